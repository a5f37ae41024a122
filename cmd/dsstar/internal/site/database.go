package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgpassfile"

	"dsstar/agent/files"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
)

// A Database is reached by cells, which have its address in an environment variable.
type Database struct {
	Variable  string
	Address   string   // with its password
	More      []string // other variables that cells have for it, NAME=VALUE
	Endpoints []sandbox.Endpoint
	Token     string // of the address that is no password
	Cluster   bool   // its client's state cannot be copied
}

// databaseVariables begins the names of all such variables.
const databaseVariables = "DSSTAR_DB_"

// SecretTexts are what no output may show: the addresses with passwords, these alone, and keys.
func (h Host) SecretTexts() (all []string) {
	const least = 6 // a shorter text may be anywhere
	add := func(texts ...string) {
		for _, text := range texts {
			if len(text) >= least && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	for _, d := range h.Databases {
		add(d.Token)
		if u, err := url.Parse(d.Address); err == nil {
			if password, ok := u.User.Password(); ok {
				_, written, _ := strings.Cut(u.User.String(), ":")
				add(d.Address, password, written)
			}
		}
		for _, entry := range d.More {
			if name, value, _ := strings.Cut(entry, "="); secret.MatchString(name) {
				add(value)
			}
		}
	}
	return all
}

// A dialect is one of SQLAlchemy's for databases behind an address.
type dialect struct {
	port   uint16
	driver string // "": that of SQLAlchemy
}

var dialects = map[string]dialect{
	"postgresql": {5432, "psycopg"}, "mysql": {3306, "pymysql"}, "mariadb": {3306, "pymysql"},
	"mssql": {port: 1433}, "oracle": {port: 1521}, "redshift": {port: 5439},
	"cockroachdb": {port: 26257}, "clickhouse": {port: 8123}, "clickhousedb": {port: 8123},
	"trino": {port: 8080}, "vertica": {port: 5433}, "starrocks": {port: 9030},
}

// errAddress does not say more, as the error of the parser repeats the address.
var errAddress = usage.New("--data: the address of the database cannot be read",
	usage.Again("--data", "env:VARIABLE").Note("which holds dialect://user:password@host/name, with "+
		"@, :, / and # in the password as %40, %3A, %2F and %23"))

// FindDatabase returns the database at an address, and the address without user, password and
// other secrets.
func (h Host) FindDatabase(address string) (d Database, shown string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return d, "", errAddress
	}
	if IsBucket(address) {
		return h.findBucket(u)
	}
	if engine := EngineOf(address); engine != "" {
		return findCluster(engine, u)
	}
	name, driver, _ := strings.Cut(strings.ToLower(u.Scheme), "+")
	if name == "postgres" {
		name = "postgresql"
	}
	if name == "postgresql" && u.Query().Has("service") {
		return d, "", usage.New("--data: service files are not read: name host, port and database "+
			"in the address", usage.Again("--data", "postgresql://HOST:PORT/DATABASE"))
	}
	usual := dialects[name]
	if u.Hostname() == "" {
		u.Host = "localhost" + u.Host // a port may follow
	}
	at := sandbox.Endpoint{Host: u.Hostname()}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), strconv.Itoa(int(usual.port))), 10, 16)
	if err != nil || port == 0 {
		return d, "", usage.New(fmt.Sprintf("--data: the address of the %s database has no port, and "+
			"its usual one is not known", ui.Printable(name)),
			usage.Again("--data", name+"://HOST:PORT/DATABASE"))
	}
	at.Port = uint16(port)
	d.Endpoints = []sandbox.Endpoint{at}
	if _, has := u.User.Password(); !has {
		if password := h.password(name, u, at); password != "" {
			u.User = url.UserPassword(u.User.Username(), password)
		}
	}
	public := *u
	public.User, public.Scheme = nil, name
	if driver = cmp.Or(driver, usual.driver); driver != "" {
		u.Scheme = name + "+" + driver
	}
	if driver == "psycopg" && !u.Query().Has("client_encoding") {
		query := u.Query()
		query.Set("client_encoding", "utf8") // of databases in SQL_ASCII psycopg returns bytes
		u.RawQuery = query.Encode()
	}
	d.Address = u.String()
	return d, configs.Redact(public.String()), nil
}

// password returns the password that a database's own client would find outside of the address.
func (h Host) password(dialect string, u *url.URL, at sandbox.Endpoint) string {
	switch dialect {
	case "postgresql":
		if p := h.Getenv("PGPASSWORD"); p != "" {
			return p
		}
		file := cmp.Or(h.Getenv("PGPASSFILE"), filepath.Join(h.Getenv("HOME"), ".pgpass"))
		if known, err := pgpassfile.ReadPassfile(file); err == nil {
			return known.FindPassword(at.Host, strconv.Itoa(int(at.Port)), strings.Trim(u.Path, "/"),
				u.User.Username())
		}
	case "mysql", "mariadb":
		return h.Getenv("MYSQL_PWD")
	}
	return ""
}

// Reopen has cells reach the databases of a recorded run. Their addresses are those that the user has
// set: the notebook may come from a stranger. Each must be the recorded one of a run that this user's
// dsstar has made, or one that the user has named.
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
		h.Databases = append(h.Databases, d)
	}
	return nil
}
