package tests

import (
	"bytes"
	"io"
	"sync"

	"github.com/caddyserver/caddy/v2"
)

// logs collects the log of the running Caddy: the log writer of every setup.
var logs = new(logBuffer)

func init() { caddy.RegisterModule(logWriter{}) }

type logWriter struct{}

func (logWriter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.logging.writers.gatehouse_test", New: func() caddy.Module { return new(logWriter) }}
}
func (logWriter) String() string                      { return "gatehouse_test" }
func (logWriter) WriterKey() string                   { return "gatehouse_test" }
func (logWriter) OpenWriter() (io.WriteCloser, error) { return logs, nil }
func (*logWriter) UnmarshalCaddyfile(d *caddyfileDispenser) error {
	d.Next()
	return nil
}

// logLines are the lines of the log that contain text.
func (h *harness) logLines(text string) (found []string) {
	for line := range bytes.Lines([]byte(logs.text())) {
		if bytes.Contains(line, []byte(text)) {
			found = append(found, string(line))
		}
	}
	return found
}

// logBuffer holds the log of a test.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) Close() error { return nil }

func (l *logBuffer) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = bytes.Buffer{} // with its capacity: tests measure memory
}
