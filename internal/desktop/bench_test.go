package desktop_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
)

func busy(b *testing.B) (d *desktop.Service, label string) {
	d = open(b, func(c *desktop.Config) {
		for i := range 1000 {
			c.Workstations = append(c.Workstations, desktop.Spec{
				ID:     desktop.ID{Tenant: "default", Name: fmt.Sprint("w", i)},
				Target: desktop.Target{TestCard: testcard.Serve},
			})
		}
	})
	for i := range 1000 {
		label = mustIssue(b, d, fmt.Sprint("w", i))
	}
	return d, label
}

func BenchmarkFind(b *testing.B) {
	d, label := busy(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Find(label, viewer.Addr()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFindUnknown(b *testing.B) {
	d, _ := busy(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Find("aaaaaaaaaaaaaaaaaaaaaaaaaa", viewer.Addr()); err == nil {
			b.Fatal("found")
		}
	}
}

func BenchmarkLive(b *testing.B) {
	d, label := busy(b)
	b.ReportAllocs()
	for b.Loop() {
		if !d.Live(label) {
			b.Fatal("dead")
		}
	}
}

func BenchmarkJoinAndLeave(b *testing.B) {
	d, label := busy(b)
	pass, err := d.Find(label, viewer.Addr())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		x, err := pass.Join(viewer, "x509none")
		if err != nil {
			b.Fatal(err)
		}
		x.Leave()
	}
}
