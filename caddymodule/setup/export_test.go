package setup

import (
	"bufio"
	"io"
)

// Made makes the files of a command line, as the command does, after a dialogue unless it is nil.
func Made(a Answers, talk *Talk, getenv func(string) string) (caddyfile, env string, missing []string, err error) {
	given := &answers{host: a.Host, internalCA: a.InternalCA, providers: a.Providers, key: defaultKey, budget: a.Budget, catalog: a.Catalog, workstations: a.Workstations, caddyfile: "Caddyfile"}
	if a.Key != "" {
		given.key = a.Key
	}
	if talk != nil {
		d := dialogue{in: bufio.NewReader(talk.In), out: talk.Out, given: talk.Given, secret: talk.Secret}
		if err := d.ask(given); err != nil {
			return "", "", nil, err
		}
	}
	f, err := given.files(getenv)
	if err != nil {
		return "", "", nil, err
	}
	return string(f.caddyfileText), string(f.envText), f.missing, nil
}

// Answers are the flags.
type Answers struct {
	Host         string
	InternalCA   bool
	Providers    []string
	Key          string
	Budget       string
	Catalog      string
	Workstations []string
}

// Talk is a terminal.
type Talk struct {
	In     io.Reader
	Out    io.Writer
	Given  func(string) bool
	Secret func() (string, error)
}
