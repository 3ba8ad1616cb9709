package translate_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestATokenHasEveryKey(t *testing.T) {
	out := translate.AppendToken(nil, []byte(`{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"b"},7,{"logprob":-1}],"x":1}`), "null")
	out = translate.AppendToken(out, []byte(`{"token":7,"bytes":"a"}`), "[]")
	want := `{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"b","logprob":0,"bytes":null},{"token":"","logprob":-1,"bytes":null}]},` +
		`{"token":"","logprob":0,"bytes":[],"top_logprobs":[]}`
	if string(out) != want {
		t.Errorf("got %s", out)
	}
}

func TestACitationHasEveryValue(t *testing.T) {
	show := func(object string) string {
		c := translate.ReadCitation([]byte(object))
		return strings.Join([]string{string(c.Type), string(c.URL), string(c.Title), string(c.Start), string(c.End)}, " ")
	}
	for object, want := range map[string]string{
		`{"type":"url_citation","url":"u","title":"t","start_index":1,"end_index":2}`: `"url_citation" "u" "t" 1 2`,
		`{"url":7,"title":null,"start_index":"1","x":{}}`:                             ` "" "" 0 0`,
		`7`: ` "" "" 0 0`,
	} {
		if got := show(object); got != want {
			t.Errorf("%s: %s", object, got)
		}
	}
}

func TestAFailureNamesTheProvider(t *testing.T) {
	call := translatetest.NewCall()
	e := translate.ProviderFailure(&call, translate.TooManyItems)
	if e.Code != apierror.UpstreamError || e.Provider != "fake" || e.Message != `provider "fake" answered with too many items` {
		t.Errorf("%+v", e)
	}
}

func TestALongValueIsCutBetweenCharacters(t *testing.T) {
	if got := translate.Shorten(strings.Repeat("é", 40) + "x"); got != strings.Repeat("é", 32) {
		t.Errorf("got %q", got)
	}
	if got := translate.Shorten("a" + strings.Repeat("é", 40)); got != "a"+strings.Repeat("é", 31) {
		t.Errorf("got %q", got)
	}
}
