"""What drivers say, in the languages of their servers, is told apart by its words, and not by those of
names."""

FAILED = 'connection failed: connection to server at "password-db", port 5432 failed: '
LOGIN, TIME = "login", "time"
CASES = [  # what is raised, the cause, what is told ("": something else)
    (Exception(FAILED + "Connection refused\n\tIs the server running on that host?"), "",
     FAILED + "Connection refused"),
    (Exception(FAILED + 'FATAL:  database "login" does not exist'), "", ""),
    (Exception(FAILED + "FATAL:  the database system is starting up"), "", ""),
    (Exception(FAILED + 'FATAL:  password authentication failed for user "a"'), LOGIN, ""),
    (Exception(FAILED + "FATAL:  Passwort-Authentifizierung für Benutzer »a« fehlgeschlagen"), LOGIN, ""),
    (Exception(FAILED + 'FATAL:  role "a" does not exist'), LOGIN, ""),
    (Exception(FAILED + 'FATAL:  permission denied for database "a"'), LOGIN, ""),
    (Exception(FAILED + "fe_sendauth: no password supplied"), LOGIN, ""),
    (Exception(1045, "Zugriff verweigert"), LOGIN, "Zugriff verweigert"),
    (Exception(2003, "Can't connect to MySQL server on 'login' (Connection refused)"), "", ""),
    (Exception("28000", "[28000] Login failed for user"), LOGIN, ""),
    (Exception(1969, "max_statement_time exceeded"), TIME, ""),
    (Exception("ORA-01017: invalid username/password; logon denied"), LOGIN, ""),
    (OSError(111, "Connection refused"), "", "Connection refused"),
    (Exception("When listing objects under key '' in bucket 'forbidden': AWS Error NO_SUCH_BUCKET"), "", ""),
    (Exception("When listing objects: AWS Error ACCESS_DENIED during ListObjectsV2"), LOGIN, ""),
    (Exception("Permission 'storage.objects.list' denied on resource"), LOGIN, ""),
    (Exception("403 Server failed to authenticate the request"), LOGIN, ""),
    (profile.OutOfTime("it takes longer than 4 s"), TIME, "it takes longer than 4 s"),
]

for error, cause, told in CASES:
    got, text = profile.why(error, True)
    same(repr(error), "cause", got, cause)
    same(repr(error), "told", text != "" and (told or text), text)
