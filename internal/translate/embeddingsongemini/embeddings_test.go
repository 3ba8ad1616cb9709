package embeddingsongemini_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/embeddingsongemini"
)

func request(t *testing.T, body string, vertex bool) (string, *embeddingsongemini.Original, error) {
	t.Helper()
	var b jsonscan.Body
	defer b.Release()
	if err := b.Parse([]byte(body)); err != nil {
		t.Fatal(err)
	}
	out, original, err := embeddingsongemini.Request(&b, "gemini-embedding-001", vertex)
	return string(out), original, err
}

func TestTextsAreEmbeddedInTheirOrder(t *testing.T) {
	three := `{"model":"m","input":["a","\u00fc","c"],"dimensions":2,"user":"u","encoding_format":"base64"}`
	for _, c := range []struct {
		vertex             bool
		body, sent, answer string
		want               string
	}{
		{false, three,
			`{"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"a"}]},"outputDimensionality":2},` +
				`{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"\u00fc"}]},"outputDimensionality":2},` +
				`{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"c"}]},"outputDimensionality":2}]}`,
			`{"embeddings":[{"values":[1,-2]},{"values":[0.5,0]},{"values":[]}]}`,
			`{"object":"list","data":[{"object":"embedding","embedding":"AACAPwAAAMA=","index":0},{"object":"embedding","embedding":"AAAAPwAAAAA=","index":1},{"object":"embedding","embedding":"","index":2}]}`},
		{false, `{"model":"m","input":"a"}`,
			`{"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"a"}]}}]}`,
			`{"embeddings":[{"values":[0.10,-2e-3]}],"usageMetadata":{"promptTokenCount":3}}`,
			`{"object":"list","data":[{"object":"embedding","embedding":[0.10,-2e-3],"index":0}],"usage":{"prompt_tokens":3,"total_tokens":3}}`},
		{true, `{"model":"m","input":["a","b"],"dimensions":768}`,
			`{"instances":[{"content":"a"},{"content":"b"}],"parameters":{"autoTruncate":false,"outputDimensionality":768}}`,
			`{"predictions":[{"embeddings":{"values":[1],"statistics":{"token_count":2,"truncated":false}}},{"embeddings":{"values":[2],"statistics":{"token_count":3}}}]}`,
			`{"object":"list","data":[{"object":"embedding","embedding":[1],"index":0},{"object":"embedding","embedding":[2],"index":1}],"usage":{"prompt_tokens":5,"total_tokens":5}}`},
	} {
		sent, original, err := request(t, c.body, c.vertex)
		if err != nil || sent != c.sent {
			t.Errorf("%v\n%s\nwant\n%s", err, sent, c.sent)
			continue
		}
		got, err := original.Whole(strings.NewReader(c.answer), translatetest.NewCall(), nil)
		if err != nil || string(got) != c.want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
		}
		if _, sum, err := openai.Embeddings.Result(nil, got, translatetest.NewCall()); err != nil || sum.HasUsage != strings.Contains(c.want, "usage") {
			t.Errorf("the caller gets %+v, %v", sum, err)
		}
	}
}

func TestEmbeddingsThatGoogleLacksAreRefused(t *testing.T) {
	for body, refusal := range map[string][2]string{
		`{"model":"m"}`:                                        {"input", "missing_required_parameter"},
		`{"model":"m","input":[]}`:                             {"input", "invalid_value"},
		`{"model":"m","input":[1,2]}`:                          {"input[0]", "invalid_value"},
		`{"model":"m","input":["a",[1]]}`:                      {"input[1]", "invalid_value"},
		`{"model":"m","input":"a","encoding_format":"binary"}`: {"encoding_format", "unsupported_parameter"},
		`{"model":"m","input":"a","dimensions":0}`:             {"dimensions", "invalid_value"},
		`{"model":"m","input":"a","input_type":"query"}`:       {"input_type", "unsupported_parameter"},
	} {
		_, _, err := request(t, body, false)
		translatetest.MustRefuse(t, body, err, refusal[0], refusal[1])
	}
}

func TestAnotherNumberOfEmbeddingsIsAFailure(t *testing.T) {
	_, original, err := request(t, `{"model":"m","input":["a","b"]}`, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{`{"embeddings":[{"values":[1]}]}`, `{}`, `[]`, `{"embeddings":[{"values":["x"]},{"values":[1]}]}`} {
		if out, err := original.Whole(strings.NewReader(answer), translatetest.NewCall(), nil); err == nil {
			t.Errorf("%s: %s", answer, out)
		}
	}
}
