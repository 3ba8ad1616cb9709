//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
)

// What settings have in docs/clients.md, and what a run puts there.
const (
	theOrigin = "https://gateway.example"
	theModel  = "PROVIDER/MODEL"
	theKey    = "YOUR_KEY"
)

// setting is what a user sets so that a client asks the gateway: a part of a file in the client's home, or
// variables of the environment if the file has no name. docs/clients.md shows its text.
type setting struct{ file, text string }

// apply writes the files of the settings and returns their variables.
func (r run) apply(settings []setting) (env []string, err error) {
	values := strings.NewReplacer(theOrigin, r.origin, theModel, r.model, theKey, r.secret)
	files := map[string]string{}
	for _, s := range settings {
		text := values.Replace(s.text)
		if s.file == "" {
			env = append(env, strings.Split(strings.TrimSpace(text), "\n")...)
		} else {
			files[s.file] += text
		}
	}
	for name, text := range files {
		file := filepath.Join(r.home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return env, nil
}
