package signin_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/signin"
)

func TestWhatIsSealedIsOpenedByItsSecretsAndForItsPurpose(t *testing.T) {
	one, two := strings.Repeat("1", 32), strings.Repeat("2", 32)
	sealer := func(secrets ...string) *signin.Sealer {
		t.Helper()
		s, err := signin.NewSealer(secrets...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old := sealer(one)
	sealed := old.Seal("rows", "a text")
	if strings.Contains(sealed, "a text") || sealed == old.Seal("rows", "a text") {
		t.Error(sealed)
	}
	changed := "A" + sealed[1:]
	if changed == sealed {
		changed = "B" + sealed[1:]
	}
	for name, c := range map[string]struct {
		by              *signin.Sealer
		purpose, sealed string
		ok              bool
	}{
		"same":            {sealer(one), "rows", sealed, true},
		"rotated":         {sealer(two, one), "rows", sealed, true},
		"another secret":  {sealer(two), "rows", sealed, false},
		"of the process":  {sealer(), "rows", sealed, false},
		"another purpose": {old, "cookies", sealed, false},
		"changed":         {old, "rows", changed, false},
		"short":           {old, "rows", "AAAA", false},
		"no base64":       {old, "rows", "%%", false},
	} {
		if text, ok := c.by.Open(c.purpose, c.sealed); ok != c.ok || ok != (text == "a text") {
			t.Errorf("%s: %q, %v", name, text, ok)
		}
	}
	if !old.Durable() || sealer().Durable() {
		t.Error("what outlives the process")
	}
	if _, err := signin.NewSealer("short"); err == nil || strings.Contains(err.Error(), "\"short\"") {
		t.Errorf("%v", err)
	}
}
