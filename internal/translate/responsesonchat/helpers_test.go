package responsesonchat_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// counter numbers ids by prefix.
type counter map[string]int

func (c counter) NewID(prefix string) string {
	c[prefix]++
	return prefix + "_" + strconv.Itoa(c[prefix])
}

func (c counter) Unix() int64 { return 1700000100 }

// translateBody translates a body as the gateway does.
func translateBody(body string, opt responsesonchat.Options) ([]byte, *responsesonchat.Original, error) {
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		return nil, nil, err
	}
	req, err := params.ParseResponses(&b)
	if err != nil {
		return nil, nil, err
	}
	if opt.UpstreamModel == "" {
		opt.UpstreamModel = "echo"
	}
	return responsesonchat.Request(&b, req.Stream, opt)
}

func originalOf(t testing.TB, body string) *responsesonchat.Original {
	t.Helper()
	_, original, err := translateBody(body, responsesonchat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return original
}

const (
	plainRequest = `{"model":"fake/echo","input":"hi"}`

	// toolRequest has tools whose calls are no plain function calls.
	toolRequest = `{"model":"fake/echo","input":"hi","tools":[{"type":"custom","name":"apply_patch"},{"type":"custom","name":"g"},` +
		`{"type":"namespace","name":"agents","tools":[{"type":"function","name":"spawn"}]},{"type":"tool_search","execution":"client"}]}`
)

func stream(original *responsesonchat.Original, wire string) (string, error) {
	return translatetest.Drive(responsesonchat.NewStream(original, translatetest.NewCall(), counter{}), strings.NewReader(wire))
}

func terminals(out string) (n int) {
	for _, typ := range []string{"completed", "incomplete", "failed"} {
		n += strings.Count(out, "event: response."+typ+"\n")
	}
	return n
}
