package params_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestContentThatCostsMoreThanItsBytes(t *testing.T) {
	part := func(p string) string { return `{"messages":[{"role":"user","content":[` + p + `]}]}` }
	for body, want := range map[string]params.Content{
		`{"messages":[{"role":"user","content":"x"}]}`:                                {},
		part(`{"type":"text","text":"file"}`):                                         {},
		part(`{"type":"image_url","image_url":{}},{"type":"image_url"}`):              {Images: 2},
		part(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`): {Images: 1, Encoded: 28},
		part(`{"type":"input_image","image_url":"data:image/png;base64,AAAA"}`):       {Images: 1, Encoded: 28},
		part(`{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}`):    {Images: 1},
		part(`{"type":"input_audio","input_audio":{}}`):                               {Units: units.Counts{units.AudioInput: 1}, Sounds: params.Sounds{Count: 1, Unbounded: true}},
		part(`{"type":"file","file":{}}`):                                             {Unpriced: "file"},
		part(`{"type":"text","type":"video"}`):                                        {Unpriced: "video"},
		part(`{"TYPE":"video"}`):                                                      {Unpriced: "video"},
		part(`{"\u0074ype":"video"}`):                                                 {Unpriced: "video"},
		part(`{"text":"x"}`):                                                          {Unpriced: "content"},
		part(`{"type":7}`):                                                            {Unpriced: "content"},
		part(`{"type":"` + strings.Repeat("v", 65) + `"}`):                            {Unpriced: "content"},
		part(`{"type":"text","image_url":{"url":"u"}}`):                               {Images: 1},
		part(`{"type":"text","video_url":{"url":"u"},"file":null}`):                   {Unpriced: "video_url"},
		part(`{"type":"text","input_audio":{}}`):                                      {Units: units.Counts{units.AudioInput: 1}, Sounds: params.Sounds{Count: 1, Unbounded: true}},
		part(`["x"]`):                                                                 {Unpriced: "content"},
		part(`"x",null`):                                                              {},
		`{"messages":[{"role":"user","content":{"type":"image_url"}}]}`:               {Unpriced: "content"},
		`{"messages":[[{"type":"image_url"}]]}`:                                       {Unpriced: "content"},
		`{"messages":[{"role":"assistant","content":null,"images":[{"type":"image_url","image_url":{}}]}]}`: {Images: 1},
		`{"input":[{"type":"function_call_output","output":{"type":"input_image"}}]}`:                       {Images: 1},
		`{"input":[{"type":"function_call_output","output":{"image_url":"u"}}]}`:                            {Images: 1, Unpriced: "content"},
		`{"input":"x"}`: {},
		`{"input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"u"}]}]}`:                            {Images: 1},
		`{"input":[{"type":"input_file","file_url":"u"}]}`:                                                                                           {Unpriced: "input_file"},
		`{"input":[{"type":"function_call_output","output":[{"type":"input_image"}]}]}`:                                                              {Images: 1},
		`{"input":[{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,AAAA"}}]}`: {Images: 1, Encoded: 28},
		`{"input":[{"type":"web_search_call"}]}`:                                                                                                     {Unpriced: "web_search_call"},
		`{"input":[{"type":"compaction_trigger"}]}`:                                                                                                  {Compacts: true},
		part(`{"type":"image","source":{"type":"base64","data":"AAAA"}}`):                                                                            {Images: 1, Encoded: 31},
		part(`{"type":"document","source":{"type":"base64","data":"AAAA"}}`):                                                                         {Unpriced: "file"},
		part(`{"type":"document","source":{"type":"url","url":"https://x.example"}}`):                                                                {Unpriced: "file"},
		part(`{"type":"document","source":{"type":"text","type":"base64","data":"AA"}}`):                                                             {Unpriced: "file"},
		part(`{"type":"document","type":"image","source":{"type":"base64"}}`):                                                                        {Images: 1, Unpriced: "file"},
		part(`{"type":"document","source":{"data":"AAAA"}}`):                                                                                         {Unpriced: "file"},
		part(`{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"url","url":"u"}}]}}`):                       {Images: 1, Encoded: 24},
		part(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},{"type":"image","source":{}}]}`):                         {Images: 1, Encoded: 2},
		part(`{"type":"tool_result","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}`):                                        {Unpriced: "file"},
		part(`{"type":"text","document_url":"https://x.example"}`):                                                                                   {Unpriced: "document_url"},
		part(`{"type":"thinking","thinking":[{"type":"video"}]}`):                                                                                    {Unpriced: "video"},
		`{"service_tier":"priority"}`:           {Unpriced: "service_tier"},
		`{"service_tier":null}`:                 {},
		`{"service_tier":"flex"}`:               {},
		`{"modalities":["text","audio"]}`:       {Units: units.Counts{units.AudioOutput: 1}},
		`{"modalities":["context_management"]}`: {Unpriced: "modalities"},
		part(`{"type":"document","source":{"type":"content","content":{"type":"image"}}}`): {Unpriced: "file"},
		`{"modalities":["image","text"]}`:                                                  {Unpriced: "modalities"},
		`{"prediction":{"type":"content","content":"abc"}}`:                                {Prediction: int64(len(`{"type":"content","content":"abc"}`))},
	} {
		b := strict(t, body)
		if got := params.ContentOf(b); got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}

func TestContentIsBoundedInDepth(t *testing.T) {
	b := strict(t, `{"messages":[`+strings.Repeat(`{"type":"message","content":[`, 20)+strings.Repeat(`]}`, 20)+`]}`)
	if got := params.ContentOf(b); got.Unpriced == "" {
		t.Errorf("%+v", got)
	}
}

// Whatever a field may cost, and however a provider reads its name.
func TestFieldsThatMayCostMore(t *testing.T) {
	for _, field := range []string{
		"search_parameters", "enable_search", "extra_body", "best_of", "num_return_sequences", "n_predict", "max_new_tokens", "speed", "inference_geo", "Temperature", "x",
	} {
		b := strict(t, `{"model":"p/m","messages":[],"`+field+`":{"mode":"on"}}`)
		if got := params.ChatFields.Unknown(b); got != field {
			t.Errorf("%s: %q", field, got)
		}
	}
	b := strict(t, `{"model":"p/m","enable_search":null}`)
	if got := params.ChatFields.Unknown(b); got != "" {
		t.Errorf("null: %+v", got)
	}
	long := strings.Repeat("x", 100)
	b = strict(t, `{"`+long+`":1}`)
	if got := params.ChatFields.Unknown(b); got != long[:64] {
		t.Errorf("a long name: %+v", got)
	}
	for _, field := range []string{"Service_Tier", "Modalities", "Audio", "PREDICTION"} {
		b := strict(t, `{"model":"p/m","messages":[],"`+field+`":"x"}`)
		if _, err := params.ParseChat(b); err == nil || apierror.From(err).Param != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A compaction is written by the model, and billed.
func TestOnlyAContextThatIsClearedCostsNothing(t *testing.T) {
	for _, value := range []string{
		`{"edits":[{"type":"compact_20260112"}]}`, `{"edits":[{"type":"clear_tool_uses_20250919"},{"type":"compact_20260112"}]}`,
		`[{"type":"compaction","compact_threshold":1000}]`, `{"edits":[{}]}`, `{"edits":[5]}`, `{"edits":{}}`, `{"Edits":[]}`, `"auto"`, `true`,
		`{"edits":[{"type":"clear_thinking_20251015","type":"compact_20260112"}]}`, `{"edits":[],"compaction":{}}`,
		`[` + strings.Repeat(`{"type":"clear_thinking_20251015"},`, 1000) + `{"type":"clear_thinking_20251015"}]`,
	} {
		b := strict(t, `{"model":"p/m","input":"x","context_management":`+value+`}`)
		if got := params.ContentOf(b); got.Unpriced != "context_management" {
			t.Errorf("%.80s: %+v", value, got)
		}
	}
}

// What SDKs and coding tools send beside the fields of the two APIs.
func TestFieldsThatCostNothing(t *testing.T) {
	for _, body := range []string{
		`{"model":"p/m","messages":[],"top_k":4,"min_p":0.1,"repetition_penalty":1.1,"safety_identifier":"u","verbosity":"low","thinking":{"type":"enabled"}}`,
		`{"model":"p/m","messages":[],"chat_template_kwargs":{"enable_thinking":false},"guided_json":{},"stop_token_ids":[1],"ignore_eos":true,"seed":1}`,
		`{"model":"p/m","messages":[],"transforms":[],"usage":{"include":true},"reasoning":{"effort":"low"},"provider":{},"session_id":"s"}`,
		`{"model":"p/m","input":"x","include":[],"store":false,"text":{},"prompt_cache_key":"k","client_metadata":{},"truncation":"auto","instructions":"i"}`,
		`{"model":"p/m","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]}]}`,
		`{"model":"p/m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"},{"type":"document","title":"t","source":{"type":"text","media_type":"text/plain","data":"d"}}]}]}`,
		`{"model":"p/m","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]}]}]}`,
		`{"model":"p/m","input":[{"type":"local_shell_call","action":{"type":"exec"}},{"type":"local_shell_call_output","output":"x"},{"type":"apply_patch_call"},{"type":"apply_patch_call_output"}]}`,
		`{"model":"p/m","input":[{"type":"shell_call","action":{"commands":["ls"]}},{"type":"shell_call_output","output":[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]}]}`,
		`{"model":"p/m","input":[{"type":"tool_search_call","arguments":{"query":"q"}},{"type":"tool_search_output","tools":[{"type":"function"}]},{"type":"additional_tools","tools":[]},{"type":"compaction","encrypted_content":"e"}]}`,
		`{"model":"p/m","input":[{"type":"agent_message","author":"a","recipient":"b","content":[{"type":"encrypted_content","encrypted_content":"x"}]},{"type":"context_compaction","encrypted_content":"e"}]}`,
		`{"model":"p/m","input":[{"type":"function_call_output","call_id":"c","output":[{"type":"encrypted_content","encrypted_content":"x"}]}]}`,
		`{"model":"p/m","context_management":{"edits":[{"type":"clear_tool_uses_20250919","keep":{"type":"tool_uses","value":3}},{"type":"clear_thinking_20251015","keep":"all"}]}}`,
		`{"model":"p/m","context_management":{}}`, `{"model":"p/m","context_management":[]}`, `{"model":"p/m","context_management":null}`,
		`{"model":"p/m","messages":[],"functions":[],"function_call":"none","logit_bias":{},"response_format":{},"prompt_cache_retention":"24h","n":2,"random_seed":1}`,
	} {
		b := strict(t, body)
		if got := params.ContentOf(b); got.Unpriced != "" {
			t.Errorf("%s: %+v", body, got)
		}
		fields := params.ChatFields
		if _, has := b.Find("input"); has {
			fields = params.ResponsesFields
		}
		if got := fields.Unknown(b); got != "" {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// What one operation bounds another does not.
func TestEachOperationKnowsItsOwnFields(t *testing.T) {
	for name, c := range map[string]struct {
		fields        params.Fields
		known, others string
	}{
		"chat":          {params.ChatFields, "messages n prediction max_tokens tools audio", "input text max_output_tokens image file thing voice"},
		"responses":     {params.ResponsesFields, "input text max_output_tokens tools previous_response_id", "messages n prediction max_tokens best_of audio modalities"},
		"messages":      {params.MessagesFields, "messages system max_tokens fallbacks thinking", "input text n prediction modalities audio"},
		"completions":   {params.CompletionsFields, "prompt suffix best_of n", "messages input thing text"},
		"embeddings":    {params.EmbeddingsFields, "input dimensions encoding_format", "messages n tools text prompt"},
		"rerank":        {params.RerankFields, "query documents top_n", "input n messages tools max_tokens"},
		"moderations":   {params.ModerationsFields, "input", "n messages tools text"},
		"images":        {params.ImageFields, "prompt n size quality", "image mask messages input text tools"},
		"image edits":   {params.ImageEditFields, "prompt n image image[] mask", "messages input text tools"},
		"speech":        {params.SpeechFields, "input voice speed stream_format instructions", "text n messages prompt tools"},
		"transcripts":   {params.TranscriptsFields, "file input_audio prompt language", "n text messages input tools"},
		"generate":      {params.GenerateFields, "contents tools systeminstruction", "content requests messages n tasktype"},
		"embed content": {params.EmbedFields, "content tasktype", "contents requests tools generationconfig"},
		"embed several": {params.BatchEmbedFields, "requests", "content contents tools"},
	} {
		for field := range strings.FieldsSeq(c.known) {
			if got := c.fields.Unknown(strict(t, `{"model":"m","`+field+`":1}`)); got != "" {
				t.Errorf("%s: %q is not known", name, got)
			}
		}
		for field := range strings.FieldsSeq(c.others) {
			if got := c.fields.Unknown(strict(t, `{"model":"m","`+field+`":1}`)); got != field {
				t.Errorf("%s: %s: %q", name, field, got)
			}
		}
	}
	b := generateBody(t, `{"systemInstruction":{},"tool_config":{},"Unheard":1}`)
	if got := params.GenerateFields.Unknown(b); got != "Unheard" {
		t.Errorf("Google's: %q", got)
	}
}

func TestTheHourCacheIsAskedForByItsTTL(t *testing.T) {
	for body, want := range map[string]bool{
		`{"messages":[{"content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}`: true,
		`{"messages":[{"content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"5m"}}]}]}`: false,
		`{"cache_control":{"type":"ephemeral","ttl":"\u0031h"}}`:                                                  true, `{"cache_control":{"ttl":"1\u0068"}}`: true, `{"cache_control":{"ttl":"\u0031\u0068"}}`: true,
		`{"messages":[{"content":"1h"}]}`:  true, // dearer than it is, never cheaper
		`{"messages":[{"content":"11h"}]}`: false,
	} {
		if got := params.AsksHourCache([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
