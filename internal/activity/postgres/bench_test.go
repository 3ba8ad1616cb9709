//go:build unix

package postgres_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// BenchmarkCommitted measures the cost of a record, appended and committed in groups. The server's
// own processes are not counted.
func BenchmarkCommitted(b *testing.B) {
	for _, group := range []int{1, 50, 500} {
		b.Run(fmt.Sprint("group=", group), func(b *testing.B) {
			n := newNode(b, enginetest.Postgres(b), "a")
			activitytest.Committed(b, group, n, n.writer.Flush)
		})
	}
}
