package modelcall

import (
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func BenchmarkLimitsOfAModel(b *testing.B) {
	for _, n := range []int{0, 10, 1000} {
		var l Limits
		for i := range n {
			name := fmt.Sprintf("up/model-%d", i)
			l.Models = append(l.Models, ModelLimits{Pattern: name, Subject: limits.Subject{Name: ModelSubject(name)}})
		}
		if err := l.Prepare(); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.matching("up/model-5")
			}
		})
	}
}
