//go:build unix

package recording_test

import (
	"crypto/rand"
	"os"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

// cpu is the time of all processors that the process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A megabyte of the workstation, to a real file, in the pieces of a busy session.
func BenchmarkRecordMegabyte(b *testing.B) {
	file, err := os.Create(b.TempDir() + "/recording")
	if err != nil {
		b.Fatal(err)
	}
	w, err := recording.NewWriter(file, header(), recording.Options{
		Recipients: []age.Recipient{identity(b).Recipient()}, Failed: func(err error) { b.Error(err) },
	})
	if err != nil {
		b.Fatal(err)
	}
	piece := make([]byte, 16<<10)
	_, _ = rand.Read(piece)
	b.SetBytes(1 << 20)
	before := cpu(b)
	for b.Loop() {
		for range 1 << 20 / len(piece) {
			w.Server(piece)
			w.Drain()
		}
	}
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
	if err := w.Close(""); err != nil {
		b.Error(err)
	}
}
