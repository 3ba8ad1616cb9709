package authserver

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// largest notes the largest buffer into which a body is read.
type largest struct {
	io.Reader
	most int
}

func (l *largest) Read(p []byte) (int, error) {
	l.most = max(l.most, len(p))
	return l.Reader.Read(p)
}

// A body is in memory only if a collector takes it.
func TestTelemetryThatNobodyTakesIsNotKept(t *testing.T) {
	busy, err := NewCollector("http://127.0.0.1:1", http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	for range maxForwarding {
		busy.turns <- struct{}{}
	}
	for name, s := range map[string]*SignIns{
		"no collector": {},
		"a slow one":   {collector: busy, sampled: zap.NewNop},
	} {
		body := &largest{Reader: strings.NewReader(strings.Repeat("x", MaxTelemetry))}
		if err := s.Forward(httptest.NewRequest(http.MethodPost, "/v1/metrics", body)); err != nil || body.most > 1<<16 {
			t.Errorf("%s: read in parts of %d bytes, %v", name, body.most, err)
		}
		large := strings.NewReader(strings.Repeat("x", MaxTelemetry+1))
		if err := s.Forward(httptest.NewRequest(http.MethodPost, "/v1/metrics", large)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
