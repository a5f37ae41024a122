// Package masktest has credentials for tests.
package masktest

import (
	"encoding/json"
	"strings"
)

// Credentials are some that nobody has issued, each with a line of a file that it stands in. They
// are in two parts so that no scanner of this repository takes them for real.
var Credentials = map[string]string{
	"AKIA" + "QX7MZ2PLR4TN6WYD":                                                    "aws_access_key_id = %s",
	"wJq7XbtnFE3I/K7MDENGb" + "PxRfiCYzQ9LmT2uWv":                                  "aws_secret_access_key=%s",
	"ghp_" + "a8Kd93jfLq02mZxc7VbnR5tyUiOp1234Wers":                                "token %s in a sentence",
	"glpat-" + "x8Kd93jfLq02mZxc7Vbn":                                              "%s",
	"xoxb-" + "283746152839-8237461527364-aBcDeFgHiJkL":                            "slack: %s",
	"sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc":                                        "%s,3,4",
	"sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8t":                                        "OPENAI %s",
	"AIza" + "SyB7k2mQ9xV4nT1pL8wR6cZ3fH5jD0sG2aE":                                 "key=%s",
	"eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N": "Bearer %s",
	"tr0ub4dor":            "postgresql://ada:%s@db.example.org/sales",
	"hunter2!x":            `password = "%s"`,
	"q8Zx71LmP0vRt5Ns":     `api_key: %s`,
	"YWRhOmxvdmVsYWNlMTIz": `Authorization: Basic %s`,
	"S3rv3rPw!9":           "Server=db;Uid=ada;Pwd=%s;",
	"Eby8vdM02xNOcqFlqUwJPLlm" + "EtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==": "AccountName=a;AccountKey=%s;",
	"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj":    "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----",
}

// Forms are the ways in which a text with a credential stands in a request.
var Forms = map[string]func(string) string{
	"plain": func(s string) string { return "before\n" + s + "\nafter" },
	"JSON":  func(s string) string { return JSON(map[string]string{"text": s}) },
	"notebook": func(s string) string {
		lines := strings.SplitAfter("x = 1\n"+s+"\n", "\n")
		return JSON(map[string]any{"cells": []any{map[string]any{"source": lines}}})
	},
	"twice": func(s string) string { return JSON(JSON(s)) },
	"CSV":   func(s string) string { return `a,b` + "\n" + `1,"` + strings.ReplaceAll(s, `"`, `""`) + `"` },
}

// JSON writes a value.
func JSON(v any) string {
	data, _ := json.MarshalIndent(v, "", " ")
	return string(data)
}
