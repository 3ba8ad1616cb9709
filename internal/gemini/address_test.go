package gemini_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
)

func TestFilesOfTheAccountAreNotPublic(t *testing.T) {
	for text, public := range map[string]bool{
		"https://example.org/a.png?of=googleapis.com":                  true,
		"HTTPS://www.youtube.com/watch?v=x":                            true,
		"https://generativelanguage.googleapis.com/v1beta/files/a":     false,
		"https://GenerativeLanguage.GoogleAPIs.com:443/v1beta/files/a": false,
		"https://storage.googleapis.com/bucket/a":                      false,
		"https://generativelanguage.google%61pis.com/v1beta/files/a":   false,
		"https://storage\u3002googleapis\u3002com/bucket/a":            false,
		"https://storage\uff0egoogleapis\uff61com:443/bucket/a":        false,
		"https://storage.googleapis%E3%80%82com/bucket/a":              false,
		"https://\uff47oogleapis.com/bucket/a":                         false,
		"https://google\u00adapis.com/bucket/a":                        false,
		"https://m\u00fcnchen.example/a.png":                           true,
		"https://my_files.example/a.png":                               true,
		"gs://bucket/a":                                                false,
		" gs://bucket/a":                                               false,
		"http://example.org/a":                                         false,
		"https:///v1beta/files/":                                       false,
		"files/a":                                                      false,
	} {
		if got := gemini.PublicURL(text); got != public {
			t.Errorf("%s: %v", text, got)
		}
	}
}
