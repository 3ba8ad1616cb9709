package soak

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// soakLog counts the log messages of a soak. If it kept them, they would be the memory that grows.
type soakLog struct {
	mu     sync.Mutex
	counts map[string]int
}

// maxSoakMessages bounds the different messages that are counted.
const maxSoakMessages = 200

var soakLines soakLog

func init() { caddy.RegisterModule(soakLogWriter{}) }

type soakLogWriter struct{}

func (soakLogWriter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.logging.writers.gatehouse_soak", New: func() caddy.Module { return new(soakLogWriter) }}
}
func (soakLogWriter) String() string                      { return "gatehouse_soak" }
func (soakLogWriter) WriterKey() string                   { return "gatehouse_soak" }
func (soakLogWriter) OpenWriter() (io.WriteCloser, error) { return &soakLines, nil }
func (*soakLogWriter) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return nil
}

// Write counts a line by its level, logger, text and code.
func (l *soakLog) Write(p []byte) (int, error) {
	var line struct{ Level, Logger, Msg, Code string }
	_ = json.Unmarshal(p, &line) // what is no JSON counts as an empty line
	key := fmt.Sprintf("%s %s %q %s", line.Level, line.Logger, line.Msg, line.Code)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	if _, known := l.counts[key]; known || len(l.counts) < maxSoakMessages {
		l.counts[key]++
	}
	return len(p), nil
}

func (l *soakLog) Close() error { return nil }

// take returns the counts and forgets them.
func (l *soakLog) take() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := l.counts
	l.counts = nil
	return counts
}
