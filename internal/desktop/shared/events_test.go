//go:build unix

package shared_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop/shared"
)

func FuzzEnded(f *testing.F) {
	f.Add("ended default/desk1 by:night+shift s1 s2")
	f.Add("released default/desk1 s1")
	f.Add("replaced default/desk1 by:%zz")
	f.Fuzz(func(t *testing.T, text string) {
		once, ok := shared.EndedAgain(text)
		if !ok {
			return
		}
		// Without a session an event ends nothing, and is not read.
		if twice, ok := shared.EndedAgain(once); ok && twice != once {
			t.Errorf("%q is %q, then %q", text, once, twice)
		}
	})
}
