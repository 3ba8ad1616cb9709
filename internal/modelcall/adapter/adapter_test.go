package adapter

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonconverse"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
)

// Who reads an answer has memory for it first: an adapter must not have read it before.
func TestAnAnswerThatIsGivenAsItCameIsNotKept(t *testing.T) {
	for name, a := range map[string]answer{"gemini": geminiAnswer{}, "claude": messagesoncloud.Vertex.Answer(nil)} {
		const size = 1 << 20
		body := strings.NewReader(strings.Repeat("x", size))
		got := (&Adapted{answer: a}).Answer(body, false, nil)
		if n, err := io.ReadFull(got, make([]byte, 10)); n != 10 || err != nil || body.Len() < size-4096 {
			t.Errorf("%s: %d bytes, %v; %d are left", name, n, err, body.Len())
		}
	}
}

func TestACountIsThatOfTheMessagesAPI(t *testing.T) {
	for member, refusal := range map[string]func(int, http.Header, []byte) translate.Refusal{"totalTokens": chatongemini.Refusal, "inputTokens": chatonconverse.CountRefusal} {
		c := count{member, refusal}
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
