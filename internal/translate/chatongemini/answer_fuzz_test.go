package chatongemini_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
)

// A caller gets a valid chat stream that ends once from any bytes of a provider, as a success only if a
// finishReason has come, the same in whatever pieces they arrive, and with the content of the whole answer.
var streams = translatetest.Streams{
	Check: checkStream, Menu: menu,
	Ends: []string{
		`data: {"candidates":[{"finishReason":"STOP"}]}` + "\n\n", `data: {"candidates":[{"finishReason":"OTHER"}]}`, "",
		"{\n \"error\": {\n  \"code\": 503\n }\n}\n", "data: {\n\n", `data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}` + "\n\n",
	},
}

func FuzzAnswer(f *testing.F) { streams.Fuzz(f) }

func FuzzAnswerSequence(f *testing.F) {
	streams.FuzzMoves(f,
		[]byte{0, 1, 0, 2, 3, 4, 3, 0, 5, 6, 7, 8, 9, 0},
		[]byte{18, 19, 18, 20, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 1},
		[]byte{11, 12, 13, 14, 15, 16, 17, 30, 31, 2},
		[]byte{0, 32, 3},
		[]byte{33, 0, 0},
		[]byte{10, 0},
		[]byte{0, 0, 0, 4},
	)
}

func checkStream(t *testing.T, wire string, sizes []byte, searches bool) {
	original := chatongemini.Asked{Searches: searches}.Original()
	out, err := stream(original, wire, true)
	g := translatetest.CheckChat(t, out, wire, err, "finishReason")
	one, _ := io.ReadAll(original.Stream(strings.NewReader(wire), translatetest.NewCall(), nil))
	pieces := &translatetest.Pieces{Text: []byte(wire), Sizes: sizes}
	if many, _ := io.ReadAll(iotest.OneByteReader(original.Stream(pieces, translatetest.NewCall(), nil))); string(many) != string(one) {
		t.Fatalf("in one piece %s\nin many      %s", one, many)
	}
	whole, wholeErr := original.Whole(strings.NewReader(wire), translatetest.NewCall(), nil)
	if failed := wholeErr != nil || wholeErr == nil && len(jsontest.Values(t, whole, "error")) > 0; failed != (err != nil) {
		t.Fatalf("streamed %v, whole %v in %s", err, wholeErr, whole)
	} else if failed {
		return
	}
	if want := translatetest.ReadCompletion(t, whole); want.String() != g.String() {
		t.Fatalf("streamed %s\nwhole    %s", g, want)
	}
}

// part is an event with a part.
func part(part string) string {
	return `data: {"candidates":[{"content":{"parts":[` + part + `],"role":"model"}}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":19}}` + "\n\n"
}

// menu has the events that an answer may have next.
var menu = []string{
	part(`{"text":"a"}`), part(`{"text":"b\n"}`), part(`{"text":""}`), part(`{"text":"hm","thought":true}`), part(`{"thought":true,"text":"ah"}`),
	part(`{"text":"a"},{"text":"b"}`), part(`{"text":"","thoughtSignature":"s"}`), part(`{"text":"x","thought":true,"thoughtSignature":"s"}`),
	part(`{"functionCall":{"name":"f","args":{"a":1}}}`), part(`{"functionCall":{"name":"f","id":"i"},"thoughtSignature":"s"}`), part(`{"functionCall":{}}`),
	part(`{"inlineData":{"mimeType":"image/png","data":"AA=="}}`), part(`{"inlineData":{}}`), part(`{}`), part(`7`), part(``), part(`{"text":7}`), part(`{"text":null}`),
	`data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}` + "\r\n\r\n", `data: {"candidates":[{"content":{"parts":[{"text":"b"}]}}]}` + "\r\n\r\n",
	`data: {"usageMetadata":{"promptTokenCount":1},"candidates":[{"content":{"parts":[{"text":"c"}]}}]}` + "\n\n",
	`data: {"candidates":[{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"u"}}],"groundingSupports":[{"groundingChunkIndices":[0,-1,9],"segment":{"endIndex":-4}}]}}]}` + "\n\n",
	`data: {"candidates":[{"content":{"parts":[{"text":"l"}]},"logprobsResult":{"chosenCandidates":[{"token":"l"}],"topCandidates":[{}]}}]}` + "\n\n",
	`data: {"candidates":[]}` + "\n\n", `data: {"candidates":{}}` + "\n\n", `data: {}` + "\n\n", `data: [DONE]` + "\n\n", ": comment\n\n", "data:\n\n", "event: x\ndata: {\"x\":1}\n\n",
	`data: {"promptFeedback":{}}` + "\n\n", `data: {"error":null}` + "\n\n",
	`data: {"candidates":[{"finishReason":"SAFETY","finishMessage":"no"}]}` + "\n\n", `data: {"candidates":[{"finishReason":"MAX_TOKENS","content":{}}]}` + "\n\n",
}

// A stream that is cut at any byte never looks whole before its end, and gives no text twice.
func TestAStreamCutAnywhereIsNotWhole(t *testing.T) {
	wire := translatetest.ReadGolden(t, "answer-calls").File("stream.txt")
	wire = wire[:strings.Index(wire, `,"finishReason"`)] // before the end, every cut is one
	for end := range wire {
		checkStream(t, wire[:end], []byte{3}, false)
		if _, err := stream(chatongemini.Asked{}.Original(), wire[:end], false); err == nil {
			t.Fatalf("the first %d bytes are an answer", end)
		}
	}
}

// A refusal has a status and a body in OpenAI's form, whatever the provider sends.
func FuzzRefusal(f *testing.F) {
	f.Add(429, googleError(429, "RESOURCE_EXHAUSTED", "Please retry in 5s.", retryInfo("9s")+","+quotaFailure("PerDay")))
	f.Add(400, `[{"error":{"details":[{"violations":[{"quotaId":7}]}],"code":"x"}}]`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		r := chatongemini.Asked{}.Original().Refusal(status, nil, []byte(body))
		if r.Status < 400 || r.Status > 599 || r.RetryAfter < 0 || r.RetryAfter > 5*60*1e9 {
			t.Fatalf("%+v", r)
		}
		translatetest.Indent(t, r.Body)
	})
}
