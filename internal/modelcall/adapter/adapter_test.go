package adapter

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonconverse"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
)

func TestACountIsThatOfTheMessagesAPI(t *testing.T) {
	for member, refusal := range map[string]func(int, http.Header, []byte) translate.Refusal{"totalTokens": chatongemini.Refusal, "inputTokens": chatonconverse.CountRefusal} {
		c := Count{member, refusal}
		if out, err := c.Whole(strings.NewReader("{\n  \""+member+"\": 31,\n  \"promptTokensDetails\": []\n}\n"), translatetest.NewCall(), nil); err != nil || string(out) != `{"input_tokens":31}` {
			t.Errorf("%s, %v", out, err)
		}
		for _, body := range []string{"", "{}", `{"` + member + `":-1}`, `{"` + member + `":"x"}`, `[]`, `{"` + member + `":1`} {
			out, err := c.Whole(strings.NewReader(body), translatetest.NewCall(), nil)
			if e := translatetest.MustFail(t, err); e.Code != apierror.UpstreamError || out != nil {
				t.Errorf("%q: %s, %v", body, out, e)
			}
		}
	}
}
