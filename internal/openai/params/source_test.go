package params_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// A source that is no text has to count as a whole or not at all: what is counted twice makes the
// rest of the body less than nothing.
func TestBytesOfAnImageCountOnce(t *testing.T) {
	inner := `{"type":"image_url","image_url":"data:image/png,` + strings.Repeat("B", 6000) + `"}`
	for range 2 {
		inner = `{"type":"image","source":{"content":[` + inner + `],"url":""}}`
	}
	b := strict(t, `{"messages":[{"role":"user","image_url":"","source":{"type":"text","content":[`+inner+`],"url":""}}]}`)
	c := params.ContentOf(b)
	if c.Encoded <= 6000 || c.Encoded >= int64(len(b.Data())) || c.Images != 1 {
		t.Errorf("%+v of %d bytes", c, len(b.Data()))
	}
}

// Where an image is expected, some providers read any file.
func TestWhatIsInTheSteadOfAnImage(t *testing.T) {
	for part, unpriced := range map[string]string{
		`{"type":"image_url","image_url":{"url":"data:application/pdf;base64,AAAA"}}`:                        "file",
		`{"type":"image_url","image_url":{"URL":"data:application/pdf;base64,AAAA"}}`:                        "file",
		`{"type":"image_url","image_url":{"url":"DATA:Application/PDF;base64,AAAA"}}`:                        "file",
		`{"type":"image_url","image_url":{"url":"\u0064ata:application\/pdf;base64,AAAA"}}`:                  "file",
		`{"type":"image_url","image_url":{"url":" data:video/mp4;base64,AAAA"}}`:                             "file",
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA","url":"data:application/pdf,A"}}`: "file",
		`{"type":"image_url","image_url":"data:,AAAA"}`:                                                      "file",
		`{"type":"image_url","image_url":"data:;base64,AAAA"}`:                                               "file",
		`{"type":"image_url","image_url":["data:application/pdf,A"]}`:                                        "content",
		`{"type":"input_image","image_url":"data:image/pn\u0067;base64,AAAA"}`:                               "",
		`{"type":"input_image","image_url":"data:image\/svg+xml,<svg>"}`:                                     "",
		`{"type":"input_image","image_url":"https://x.example/a.pdf"}`:                                       "",
		`{"type":"image","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`:           "file",
		`{"type":"image","source":{"type":"url","url":"data:application/pdf,A"}}`:                            "file",
		`{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"AAAA"}}`:                "",
		`{"type":"image","source":{"type":"url","url":"data:image/png,A"}}`:                                  "",
	} {
		b := strict(t, `{"messages":[{"role":"user","content":[`+part+`]}]}`)
		if got := params.ContentOf(b); got.Unpriced != unpriced || got.Images != 1 || unpriced != "" && got.Encoded >= 30 {
			t.Errorf("%s: %+v, want %q", part, got, unpriced)
		}
	}
}

func TestADocumentIsTextOnlyIfItsSourceSaysSo(t *testing.T) {
	for part, unpriced := range map[string]string{
		`{"type":"document"}`: "file",
		`{"type":"document","source":"https://x.example/a.pdf"}`:                                               "file",
		`{"type":"document","source":["https://x.example/a.pdf"]}`:                                             "content",
		`{"type":"document","source":null}`:                                                                    "file",
		`{"type":"document","document":"https://x.example/a.pdf"}`:                                             "file",
		`{"type":"text","text":"x","document":{"url":"u"}}`:                                                    "file",
		`{"type":"document","source":{"type":"text","data":"x"},"source":"https://x.example/a.pdf"}`:           "file",
		`{"type":"document","source":{"type":"text","data":"x"}}`:                                              "",
		`{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}`:               "",
		`{"type":"search_result","source":"https://x.example","title":"t","content":[{"type":"text"}]}`:        "",
		`{"type":"text","text":[{"type":"image_url"}]}`:                                                        "content",
		`{"type":"text","text":{"value":"x"}}`:                                                                 "content",
		`{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"f"}]}`:       "",
		`{"type":"tool_result","content":[{"type":"document","source":{"type":"base64","media_type":"x/y"}}]}`: "file",
	} {
		b := strict(t, `{"output_config":{"effort":"low"},"messages":[{"role":"user","content":[`+part+`]}]}`)
		if got := params.ContentOf(b); got.Unpriced != unpriced {
			t.Errorf("%s: %+v, want %q", part, got, unpriced)
		}
	}
}

// A caller chooses how many members an object has: they must cost no memory.
func TestManyMembersCostNoMemory(t *testing.T) {
	many := strings.Repeat(`"":0,`, 20_000) + `"":0`
	b := strict(t, `{"messages":[{`+many+`},{"content":[`+strings.Repeat(`"",`, 20_000)+`""],"source":{`+many+`}}]}`)
	if n := testing.AllocsPerRun(5, func() {
		params.ContentOf(b)
		if _, err := params.ChatLimits(b); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestThoughtBesideTheOutputIsCounted(t *testing.T) {
	for body, want := range map[string]params.Content{
		`{"max_tokens":10,"enable_thinking":true,"thinking_budget":32768}`: {Thinking: 32768},
		`{"reasoning_budget":100,"thinking_budget":0}`:                     {Thinking: 100},
		`{"thinking_budget":null}`:                                         {},
		`{"thinking_budget":-1}`:                                           {Unpriced: "thinking_budget"},
		`{"thinking_budget":1e30}`:                                         {Unpriced: "thinking_budget"},
		`{"reasoning_budget":"high"}`:                                      {Unpriced: "reasoning_budget"},
		`{"Thinking_Budget":5}`:                                            {Unpriced: "Thinking_Budget"},
		`{"mcp_servers":[],"search_parameters":{"mode":"off"},"enable_search":false,"web_search":{"enable":false}}`: {},
		`{"mcp_servers":[{}]}`: {Unpriced: "mcp_servers"},
	} {
		b := strict(t, body)
		got := params.ContentOf(b)
		got.Unpriced = cmp.Or(got.Unpriced, params.ChatFields.Unknown(b))
		if got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}
