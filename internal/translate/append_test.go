package translate_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestMembersAreApartByCommas(t *testing.T) {
	out := translate.AppendMember([]byte("{"), "a", []byte("[]"))
	out = translate.AppendTextMember(out, "b", []byte(`x\n`))
	out = translate.AppendIntMember(out, "c", -7)
	out = append(translate.AppendKey(out, "d"), '[')
	out = append(translate.AppendComma(out), '1')
	out = append(translate.AppendComma(out), '2', ']')
	if want := `{"a":[],"b":"x\n","c":-7,"d":[1,2]`; string(out) != want {
		t.Errorf("got %s", out)
	}
	if out := translate.AppendComma(nil); len(out) > 0 {
		t.Errorf("%s begins a list", out)
	}
}

func TestMissingKeysBecomeNull(t *testing.T) {
	out := translate.AppendWithNull([]byte("["), open(t, `{"a":1, "b":null}`, new(error)), "a", "b", "c")
	if string(out) != `[{"a":1, "b":null,"c":null}` {
		t.Errorf("got %s", out)
	}
}
