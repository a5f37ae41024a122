package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/files"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/lists"
)

// A Database, or a bucket or cluster, is reached by cells, which have its address in an environment
// variable.
type Database struct {
	Variable  string
	Address   string   // with its password
	More      []string // other variables that cells have for it, NAME=VALUE
	Endpoints []sandbox.Endpoint
	Secrets   []string // what no output may show
}

// databaseVariables begins the names of all such variables.
const databaseVariables = "DSSTAR_DB_"

// SecretTexts are what no output may show: the addresses with passwords, these alone, and keys.
func (h Host) SecretTexts() (all []string) {
	const least = 6 // a shorter text may be anywhere
	for _, d := range h.Databases {
		all = append(all, d.Secrets...)
	}
	return lists.Where(all, func(text string) bool { return len(text) >= least })
}

// A scheme is how addresses begin that lead to a cluster, a bucket, or a database of one of
// SQLAlchemy's dialects.
type scheme struct {
	engine string   // of the cluster
	keys   string   // shell command that sets the credentials for the bucket
	pass   []string // variables with them
	server string   // variable with another server than the usual one of the bucket
	port   uint16   // usual one of the database
	driver string   // "": that of SQLAlchemy
	secret string   // variable with the password, as the database's own client has it
}

var schemes = map[string]scheme{
	"sc": {engine: "spark"}, "tcp": {engine: "dask"}, "ray": {engine: "ray"},
	"s3": {keys: `eval "$(aws configure export-credentials --format env)"   # or export ` +
		"AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…, with AWS_REGION, AWS_ENDPOINT_URL",
		pass:   []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"},
		server: "AWS_ENDPOINT_URL"},
	"gs": {keys: `export GOOGLE_OAUTH_ACCESS_TOKEN="$(gcloud auth print-access-token)"`,
		pass: []string{"GOOGLE_OAUTH_ACCESS_TOKEN"}, server: "STORAGE_EMULATOR_HOST"},
	"az": {keys: "export AZURE_STORAGE_ACCOUNT=… AZURE_STORAGE_SAS_TOKEN=…",
		pass:   []string{"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY"},
		server: "AZURE_STORAGE_SERVICE_ENDPOINT"},
	"postgresql": {port: 5432, driver: "psycopg", secret: "PGPASSWORD"},
	"mysql":      {port: 3306, driver: "pymysql", secret: "MYSQL_PWD"},
	"mariadb":    {port: 3306, driver: "pymysql", secret: "MYSQL_PWD"},
	"mssql":      {port: 1433}, "oracle": {port: 1521},
}

// schemeOf returns the scheme of an address; nothing if it is not known.
func schemeOf(address string) scheme {
	name, _, _ := strings.Cut(address, "://")
	return schemes[strings.ToLower(name)]
}

// IsBucket reports whether an address is that of a bucket.
func IsBucket(address string) bool { return schemeOf(address).keys != "" }

// BucketHint says how to set the credentials for a bucket.
func BucketHint(address string) usage.Hint { return usage.Shell(schemeOf(address).keys) }

// EngineOf returns the engine of the cluster at an address, "spark", "dask" or "ray"; "" if it is
// not that of a cluster.
func EngineOf(address string) string { return schemeOf(address).engine }

// errAddress does not say more, as the error of the parser repeats the address.
var errAddress = usage.New("--data: the address of the database cannot be read",
	usage.Again("--data", "env:VARIABLE").Note("which holds dialect://user:password@host/name, with "+
		"@, :, / and # in the password as %40, %3A, %2F and %23"))

// FindDatabase returns the database, bucket or cluster at an address, and the address without user,
// password and other secrets.
func (h Host) FindDatabase(address string) (d Database, shown string, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "" || u.Opaque != "":
		return d, "", errAddress
	case IsBucket(address):
		return h.findBucket(u, schemeOf(address))
	case EngineOf(address) != "":
		return findCluster(u, EngineOf(address))
	}
	return h.findDatabase(u)
}

// findDatabase completes the address of a database as its own client does.
func (h Host) findDatabase(u *url.URL) (d Database, shown string, err error) {
	name, driver, _ := strings.Cut(strings.ToLower(u.Scheme), "+")
	if name == "postgres" {
		name = "postgresql"
	}
	if u.Hostname() == "" {
		u.Host = "localhost" + u.Host // a port may follow
	}
	at := sandbox.Endpoint{Host: u.Hostname(), Port: portOf(u, schemes[name].port)}
	if at.Port == 0 {
		return d, "", usage.New(fmt.Sprintf("--data: the address of the %s database has no port, and "+
			"its usual one is not known", ui.Printable(name)),
			usage.Again("--data", name+"://HOST:PORT/DATABASE"))
	}
	d.Endpoints = []sandbox.Endpoint{at}
	if _, has := u.User.Password(); !has {
		if password := h.Getenv(schemes[name].secret); password != "" {
			u.User = url.UserPassword(u.User.Username(), password)
		}
	}
	public := *u
	public.User, public.Scheme = nil, name
	if driver = cmp.Or(driver, schemes[name].driver); driver != "" {
		u.Scheme = name + "+" + driver
	}
	if driver == "psycopg" && !u.Query().Has("client_encoding") {
		query := u.Query()
		query.Set("client_encoding", "utf8") // of databases in SQL_ASCII psycopg returns bytes
		u.RawQuery = query.Encode()
	}
	d.Address = u.String()
	if password, has := u.User.Password(); has {
		_, written, _ := strings.Cut(u.User.String(), ":")
		d.Secrets = []string{d.Address, password, written}
	}
	return d, configs.Redact(public.String()), nil
}

// portOf returns the port of an address, or the usual one; 0 if it is none.
func portOf(u *url.URL, usual uint16) uint16 {
	port, err := strconv.ParseUint(cmp.Or(u.Port(), strconv.Itoa(int(usual))), 10, 16)
	if err != nil {
		return 0
	}
	return uint16(port)
}

// findBucket finds credentials and server of a bucket, SCHEME://BUCKET/PREFIX, as its own clients
// do. Cells get both in the variables that these read.
func (h Host) findBucket(u *url.URL, s scheme) (d Database, shown string, err error) {
	d.Address = u.String()
	example := u.Scheme + "://BUCKET/PREFIX"
	if u.Hostname() == "" || u.User != nil || u.RawQuery != "" {
		return d, "", usage.New("--data: the address of a bucket is "+example+", without credentials",
			usage.Again("--data", example), BucketHint(d.Address))
	}
	endpoint, hosts := h.Getenv(s.server), []string{"storage.googleapis.com"}
	for _, name := range s.pass {
		d.pass(name, h.Getenv(name))
	}
	switch u.Scheme {
	case "s3":
		region := cmp.Or(h.Getenv("AWS_REGION"), h.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
		d.pass("AWS_REGION", region)
		d.pass("AWS_EC2_METADATA_DISABLED", "true")
		all := "s3." + region + ".amazonaws.com"
		hosts = []string{u.Hostname() + "." + all, all}
	case "az":
		account := h.Getenv("AZURE_STORAGE_ACCOUNT")
		if h.Getenv("AZURE_STORAGE_KEY") == "" { // clients take one of them
			d.pass("AZURE_STORAGE_SAS_TOKEN", h.Getenv("AZURE_STORAGE_SAS_TOKEN"))
		}
		if account == "" || len(d.More) < 2 {
			return d, "", usage.New("--data: which account the container is in, and with what right to "+
				"read it, is not known", BucketHint(d.Address))
		}
		hosts = []string{account + ".blob.core.windows.net", account + ".dfs.core.windows.net"}
	}
	if endpoint == "" {
		for _, host := range hosts {
			d.Endpoints = append(d.Endpoints, sandbox.Endpoint{Host: host, Port: 443})
		}
		return d, d.Address, nil
	}
	d.pass(s.server, endpoint)
	at, err := url.Parse(endpoint)
	if err != nil {
		at = &url.URL{}
	}
	port := portOf(at, map[bool]uint16{true: 80, false: 443}[at.Scheme == "http"])
	if at.Hostname() == "" || port == 0 {
		return d, "", usage.New(s.server+" is not the address of a server",
			usage.Shell("export %s=https://HOST:PORT", s.server))
	}
	d.Endpoints = []sandbox.Endpoint{{Host: at.Hostname(), Port: port}}
	return d, d.Address, nil
}

// pass has cells see a variable, if it has a value.
func (d *Database) pass(name, value string) {
	if value != "" {
		d.More = append(d.More, name+"="+value)
	}
	if secret.MatchString(name) {
		d.Secrets = append(d.Secrets, value)
	}
}

// findCluster returns the cluster at an address. Parameters of Spark Connect follow a semicolon and
// may hold a token: they are not shown.
func findCluster(u *url.URL, engine string) (d Database, shown string, err error) {
	port := portOf(u, 0)
	if port == 0 || u.Hostname() == "" || u.User != nil {
		example := strings.ToLower(u.Scheme) + "://HOST:PORT"
		return d, "", usage.New("--engine: the address of a "+engine+" cluster is "+example,
			usage.Again("--engine", engine+"="+example))
	}
	d = Database{Address: u.String(), Endpoints: []sandbox.Endpoint{{Host: u.Hostname(), Port: port}}}
	for parameter := range strings.SplitSeq(u.Path, ";") {
		if token, ok := strings.CutPrefix(parameter, "token="); ok {
			d.Secrets = append(d.Secrets, token)
		}
	}
	// gRPC's own resolver asks name servers, and reads no hosts file that the sandbox gives.
	d.pass("GRPC_DNS_RESOLVER", "native")
	if engine == "ray" { // it looks at the processes above its own for uv, which cells cannot see
		d.pass("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
	}
	return d, u.Scheme + "://" + u.Host, nil
}

// Reopen has cells reach the databases of a recorded run. Their addresses are those that the user
// has set: the notebook may come from a stranger. Each must be the recorded one of a run that this
// user's dsstar has made, or one that the user has named.
func (h *Host) Reopen(sources []files.Source, s *configs.Settings, made bool) error {
	for _, source := range files.Databases(sources) {
		address := h.Getenv(source.Variable())
		if address == "" {
			return usage.New(fmt.Sprintf("the notebook reads %s, whose address with what is secret is in "+
				"no file, and cells would reach it", ui.Printable(source.Database)),
				usage.Shell("export %s=ADDRESS   # with user and password", source.Variable()))
		}
		d, shown, err := h.FindDatabase(address)
		if err != nil {
			if e, ok := errors.AsType[*usage.Error](err); ok {
				return usage.New(source.Variable() + ": " + e.Text)
			}
			return err
		}
		if (!made || shown != source.Database) && !slices.Contains(s.AllowDatabases, shown) {
			whose := map[bool]string{true: "your dsstar", false: "another dsstar"}[made]
			return usage.New(fmt.Sprintf("the notebook, which %s made, names %s, and %s leads to %s", whose,
				ui.Printable(source.Database), source.Variable(), shown),
				allowRead(s, shown).Note("if its cells may read that"))
		}
		d.Variable = source.Variable()
		known := func(o Database) bool { return o.Variable == d.Variable } // of a run that goes on elsewhere
		h.Databases = append(slices.DeleteFunc(h.Databases, known), d)
	}
	return nil
}
