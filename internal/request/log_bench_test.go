package request

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// BenchmarkLogLine writes lines as Caddy's default logger does: JSON to a file, or to nothing, which
// leaves the cost of encoding.
func BenchmarkLogLine(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for name, out := range map[string]zapcore.WriteSyncer{"file": file, "nothing": zapcore.AddSync(nothing{})} {
		b.Run(name, func(b *testing.B) {
			core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), out, zapcore.InfoLevel)
			d := &Deps{Logger: zap.New(core).Named("gatehouse")}
			o := Outcome{Record: &activity.Record{
				RequestID: "req_0123456789abcdef0123456789abcdef", ID: "gen-1777852800-0123456789abcdef0123", Key: "bench", Tenant: "default",
				Route: "POST /v1/chat/completions", Status: 200, Latency: 1234567 * time.Nanosecond, Model: "acme/model-1", Provider: "acme",
				PromptTokens: 250, CompletionTokens: 20, UpstreamID: "chatcmpl-0123456789abcdef0123",
			}}
			b.ReportAllocs()
			for b.Loop() {
				o.writeLog(d)
			}
		})
	}
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
