package kernels

import (
	"bufio"
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel/sandbox"
)

// findBucket returns the bucket at an address, s3://BUCKET/PREFIX, which has no secrets: cells get the
// user's credentials in the variables that every client of S3 reads.
func (h Host) findBucket(u *url.URL) (d Database, shown string, err error) {
	bucket := u.Hostname()
	if bucket == "" || u.User != nil || u.RawQuery != "" {
		return d, "", usage.New("--data: the address of a bucket is s3://BUCKET/PREFIX, without credentials",
			usage.Again("--data", "s3://BUCKET/PREFIX"),
			usage.Shell("export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_ENDPOINT_URL=…"))
	}
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
	set := func(name, otherwise string) string {
		value := cmp.Or(h.Getenv(name), otherwise)
		if value != "" {
			d.More = append(d.More, name+"="+value)
		}
		return value
	}
	set("AWS_ACCESS_KEY_ID", keys["aws_access_key_id"])
	set("AWS_SECRET_ACCESS_KEY", keys["aws_secret_access_key"])
	set("AWS_SESSION_TOKEN", keys["aws_session_token"])
	region := cmp.Or(h.Getenv("AWS_REGION"), h.Getenv("AWS_DEFAULT_REGION"), more["region"], "us-east-1")
	d.More = append(d.More, "AWS_REGION="+region, "AWS_EC2_METADATA_DISABLED=true")
	d.Address, shown = u.String(), u.String()
	endpoint := set("AWS_ENDPOINT_URL", more["endpoint_url"])
	if endpoint == "" {
		for _, host := range []string{bucket + ".s3." + region + ".amazonaws.com",
			"s3." + region + ".amazonaws.com"} {
			d.Endpoints = append(d.Endpoints, sandbox.Endpoint{Host: host, Port: 443})
		}
		return d, shown, nil
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Hostname() == "" {
		return d, "", usage.New("AWS_ENDPOINT_URL is not the address of a server",
			usage.Shell("export AWS_ENDPOINT_URL=https://HOST"))
	}
	usual := map[string]string{"http": "80"}[at.Scheme]
	port, err := strconv.ParseUint(cmp.Or(at.Port(), usual, "443"), 10, 16)
	if err != nil {
		return d, "", usage.New("AWS_ENDPOINT_URL has no valid port",
			usage.Shell("export AWS_ENDPOINT_URL=https://HOST:PORT"))
	}
	d.Endpoints = []sandbox.Endpoint{{Host: at.Hostname(), Port: uint16(port)}}
	return d, shown, nil
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
