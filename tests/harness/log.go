package harness

import (
	"bytes"
	"io"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Log collects the log of the running Caddy: the log writer of every setup.
var Log = new(LogBuffer)

type logWriter struct{}

func init() { caddy.RegisterModule(logWriter{}) }

func (logWriter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "caddy.logging.writers.gatehouse_test", New: func() caddy.Module { return new(logWriter) }}
}
func (logWriter) String() string                      { return "gatehouse_test" }
func (logWriter) WriterKey() string                   { return "gatehouse_test" }
func (logWriter) OpenWriter() (io.WriteCloser, error) { return Log, nil }
func (*logWriter) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return nil
}

// LogBuffer holds the log of a test.
type LogBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *LogBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *LogBuffer) Close() error { return nil }

// Text is the whole log.
func (l *LogBuffer) Text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Lines are the lines of the log that contain text.
func (l *LogBuffer) Lines(text string) (found []string) {
	for line := range bytes.Lines([]byte(l.Text())) {
		if bytes.Contains(line, []byte(text)) {
			found = append(found, string(line))
		}
	}
	return found
}

// Reset empties the log.
func (l *LogBuffer) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = bytes.Buffer{} // with its capacity: tests measure memory
}
