package conversation

import (
	"fmt"
	"testing"
)

// BenchmarkCheckResults checks a history of calls that each have their result: each call in a turn
// of its own, and all of them in turns of the model that follow each other. The time of a call must
// not grow with their number.
func BenchmarkCheckResults(b *testing.B) {
	for name, apart := range map[string]int{"apart": 2, "together": 1} {
		for _, calls := range []int{1 << 10, 1 << 13, 1 << 16} {
			c := &Conversation{rules: &Rules{Results: ExactlyOne}}
			for i := range calls * apart {
				if i%apart == 0 {
					c.calls = append(c.calls, &ToolCall{turn: i, results: 1})
					c.Turns = append(c.Turns, Turn{Role: Assistant})
				} else {
					c.Turns = append(c.Turns, Turn{Role: Results})
				}
			}
			b.Run(fmt.Sprintf("%s/calls=%d", name, calls), func(b *testing.B) {
				for b.Loop() {
					c.checkResults()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
			})
		}
	}
}
