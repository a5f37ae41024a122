package site

import (
	"bufio"
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel/sandbox"
)

// IsBucket reports whether an address is that of a bucket.
func IsBucket(address string) bool {
	scheme, _, _ := strings.Cut(address, "://")
	return slices.Contains([]string{"s3", "gs", "az"}, strings.ToLower(scheme))
}

// findBucket returns the bucket at an address, SCHEME://BUCKET/PREFIX, which has no secrets: cells get
// the user's credentials in the variables that clients read.
func (h Host) findBucket(u *url.URL) (d Database, shown string, err error) {
	example := u.Scheme + "://BUCKET/PREFIX"
	if u.Hostname() == "" || u.User != nil || u.RawQuery != "" {
		return d, "", usage.New("--data: the address of a bucket is "+example+", without credentials",
			usage.Again("--data", example), BucketHint(u.String()))
	}
	d.Address = u.String()
	switch u.Scheme {
	case "s3":
		err = h.s3(&d, u.Hostname())
	case "gs":
		d.pass(h, "GOOGLE_OAUTH_ACCESS_TOKEN", "")
		err = h.reach(&d, "STORAGE_EMULATOR_HOST", "", "storage.googleapis.com")
	default:
		err = h.azure(&d)
	}
	return d, d.Address, err
}

// BucketHint says how to set the credentials for a bucket.
func BucketHint(address string) usage.Hint {
	scheme, _, _ := strings.Cut(address, "://")
	switch scheme {
	case "s3":
		return usage.Shell("export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_ENDPOINT_URL=…")
	case "gs":
		return usage.Shell(`export GOOGLE_OAUTH_ACCESS_TOKEN="$(gcloud auth print-access-token)"`)
	}
	return usage.Shell("export AZURE_STORAGE_ACCOUNT=… AZURE_STORAGE_SAS_TOKEN=…")
}

// pass has cells see a variable of the user's, or another value; "": none.
func (d *Database) pass(h Host, name, otherwise string) string {
	value := cmp.Or(h.Getenv(name), otherwise)
	if value != "" {
		d.More = append(d.More, name+"="+value)
	}
	return value
}

// reach has cells reach the server that a variable names, or hosts.
func (h Host) reach(d *Database, variable, otherwise string, hosts ...string) error {
	endpoint := d.pass(h, variable, otherwise)
	if endpoint == "" {
		for _, host := range hosts {
			d.Endpoints = append(d.Endpoints, sandbox.Endpoint{Host: host, Port: 443})
		}
		return nil
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Hostname() == "" {
		return usage.New(variable+" is not the address of a server",
			usage.Shell("export %s=https://HOST", variable))
	}
	usual := map[string]string{"http": "80"}[at.Scheme]
	port, err := strconv.ParseUint(cmp.Or(at.Port(), usual, "443"), 10, 16)
	if err != nil {
		return usage.New(variable+" has no valid port", usage.Shell("export %s=https://HOST:PORT", variable))
	}
	d.Endpoints = []sandbox.Endpoint{{Host: at.Hostname(), Port: uint16(port)}}
	return nil
}

// azure finds the account and credentials of a container as the command line of Azure does.
func (h Host) azure(d *Database) error {
	account := d.pass(h, "AZURE_STORAGE_ACCOUNT", "")
	key := d.pass(h, "AZURE_STORAGE_KEY", "")
	if account == "" || key == "" && d.pass(h, "AZURE_STORAGE_SAS_TOKEN", "") == "" {
		return usage.New("--data: which account the container is in, and with what right to read it, is "+
			"not known", BucketHint(d.Address))
	}
	return h.reach(d, "AZURE_STORAGE_SERVICE_ENDPOINT", "", account+".blob.core.windows.net",
		account+".dfs.core.windows.net")
}

// s3 finds credentials, region and server of a bucket as every client of S3 does.
func (h Host) s3(d *Database, bucket string) error {
	profile := cmp.Or(h.Getenv("AWS_PROFILE"), "default")
	home := filepath.Join(h.Getenv("HOME"), ".aws")
	keys := section(cmp.Or(h.Getenv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, "credentials")),
		profile)
	config := cmp.Or(h.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, "config"))
	more := section(config, profile)
	if more == nil {
		more = section(config, "profile "+profile)
	}
	if h.Getenv("AWS_ACCESS_KEY_ID") != "" {
		keys = nil // all three belong together
	}
	d.pass(h, "AWS_ACCESS_KEY_ID", keys["aws_access_key_id"])
	d.pass(h, "AWS_SECRET_ACCESS_KEY", keys["aws_secret_access_key"])
	d.pass(h, "AWS_SESSION_TOKEN", keys["aws_session_token"])
	region := cmp.Or(h.Getenv("AWS_REGION"), h.Getenv("AWS_DEFAULT_REGION"), more["region"], "us-east-1")
	d.More = append(d.More, "AWS_REGION="+region, "AWS_EC2_METADATA_DISABLED=true")
	return h.reach(d, "AWS_ENDPOINT_URL", more["endpoint_url"],
		bucket+".s3."+region+".amazonaws.com", "s3."+region+".amazonaws.com")
}

// section returns the values of a section of one of the files of AWS's clients; nil if it is missing.
func section(file, name string) (values map[string]string) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if title, ok := strings.CutPrefix(line, "["); ok {
			if values != nil {
				return values
			}
			if strings.TrimSpace(strings.TrimSuffix(title, "]")) == name {
				values = map[string]string{}
			}
		} else if key, value, ok := strings.Cut(line, "="); ok && values != nil {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return values
}
