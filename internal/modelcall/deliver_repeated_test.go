package modelcall

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// inPieces hands out a text in reads of the given sizes, again and again.
type inPieces struct {
	text  string
	sizes []byte
	read  int
}

func (p *inPieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := len(p.text)
	if len(p.sizes) > 0 {
		n = 1 + int(p.sizes[p.read%len(p.sizes)])
		p.read++
	}
	n = copy(b, p.text[:min(n, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

var streamKinds = map[string]func(openai.Call) openai.Stream{
	"chat":      func(c openai.Call) openai.Stream { return openai.NewChatStream(c) },
	"responses": func(c openai.Call) openai.Stream { return openai.NewResponsesStream(c) },
	"messages":  func(c openai.Call) openai.Stream { return anthropic.NewStream(c) },
	"generate":  func(c openai.Call) openai.Stream { return gemini.NewStream(c, 1) },
}

// eachEvent is what a client gets if each event is decoded as SSE and read as if it repeated none.
func eachEvent(text string, s openai.Stream, m *meter) (out []byte) {
	events := sse.NewReader(strings.NewReader(text), maxEvent)
	for !s.Done() {
		event, err := events.Next()
		if err != nil {
			break
		}
		if !event.Comment {
			e := openai.NewEvent(event.Name, event.Data)
			m.event(e)
			out = s.Data(out, e)
		}
	}
	return out
}

// checkForward compares what a client gets of a stream with what eachEvent gives.
func checkForward(t *testing.T, c *call, kind, text string, sizes []byte) {
	t.Helper()
	answer := openai.Call{Model: "acme/m", ID: "gen-1", Created: 1, Provider: "acme"}
	var want meter
	long := streamKinds[kind](answer)
	wantOut := eachEvent(text, long, &want)

	w := httptest.NewRecorder()
	timeouts := DefaultTimeouts
	writer := newEventWriter(w, &timeouts, time.Now, wire.Heartbeat{}, func(http.Header) {})
	defer writer.stop()
	c.attempt = nil
	attemptOf(c).upstream.memory = *plenty(t)
	d := &streaming{attempt: c.attempt, stream: streamKinds[kind](answer), writer: writer, sent: true}
	refusal := d.forward(&inPieces{text: text, sizes: sizes}, wire.Chat.Routes[0].Wire)
	got := append(w.Body.Bytes(), d.batch.bytes()...)
	d.batch.drop()
	if refusal != nil || !bytes.Equal(got, wantOut) {
		t.Fatalf("%s in reads of %v: %v\n%q\n got  %q\n want %q", kind, sizes, refusal, text, got, wantOut)
	}
	g, l := d.stream.Summary(), long.Summary()
	d.release()
	g.Err, l.Err = nil, nil
	if g != l || *meterOf(c) != want {
		t.Fatalf("%s in reads of %v: %q\n got  %+v %+v\n want %+v %+v", kind, sizes, text, g, *meterOf(c), l, want)
	}
}

// repeatedEvents are events of which most repeat the one before, framed in many ways. TEXT and
// NUMBER stand for what differs.
var repeatedEvents = []string{
	`data: {"id":"c1","object":"chat.completion.chunk","created":17,"model":"m","choices":[{"index":0,"delta":{"content":"TEXT"},"finish_reason":null}]}` + "\n\n",
	`data:{"id":"c1","object":"chat.completion.chunk","created":17NUMBER,"model":"m","choices":[{"index":0,"delta":{"content":"TEXT"}}],"usage":null}` + "\r\n\r\n",
	"event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","sequence_number":NUMBER,"item_id":"i","delta":"TEXT","logprobs":[],"obfuscation":"TEXT"}` + "\n\n",
	"event:response.output_text.delta\r\ndata:" + `{"type":"response.output_text.delta","sequence_number":NUMBER,"item_id":"i","delta":"TEXT"}` + "\r\n\r\n",
	"event: message_start\ndata: " + `{"type":"message_start","message":{"id":"m","type":"message","content":[],"model":"m"}}` + "\n\n",
	"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"TEXT"}}` + "\n\n",
	`data: {"candidates":[{"content":{"parts":[{"text":"TEXT"}]},"index":0}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":NUMBER},"modelVersion":"m-1","responseId":"r"}` + "\r\n\r\n",
	`data: {"modelVersion": "TEXT", "candidates": [{"content": {"parts": [{"text": "TEXT", "thought": true}]}}], "usageMetadata": {"promptTokenCount": 1NUMBER}}` + "\n\n",
	`data: {"candidates":[{"content":{"parts":[{"text":"TEXT"}]},"finishReason":"STOP"}]}` + "\n\n",
	"data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"TEXT\"}}]}\n\n",
	"data: {\"choices\":[{\"delta\":{\"content\":\"TEXT\"}}]}\n{\"choices\":[{\"delta\":{\"content\":\"TEXT\"}}]}\n\n",
	"data: {\"choices\":[{\"delta\":{\"content\":\"TEXT\"}}]}\r\r",
	"data: {\"choices\":[{\"delta\":{\"content\":\"TEXT\"}}]} \n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"TEXT\"}}]}\n\r\n",
	": comment\n\n", "\n", "\r\n", "id: 1\n", "data: [DONE]\n\n", "data: {\"error\":{\"message\":\"TEXT\"}}\n\n", "event: x\n",
}

var repeatedTexts = []string{" word", "", `\n`, "é", "\n\n", "\r", `"`, `\`, "\"}}]}\n\ndata: {", "\xff", strings.Repeat("long ", 500)}

// scripted writes the events that the pairs of bytes of a script name.
func scripted(script []byte, own string) string {
	var b strings.Builder
	for n := 0; len(script) >= 2; script = script[2:] {
		event := own
		if script[0] < 0xf0 {
			event = repeatedEvents[int(script[0])%len(repeatedEvents)]
		}
		event = strings.ReplaceAll(event, "TEXT", repeatedTexts[int(script[1])%len(repeatedTexts)])
		b.WriteString(strings.ReplaceAll(event, "NUMBER", strconv.Itoa(n)))
		n++
	}
	return b.String()
}

func forwarding(t testing.TB) *call {
	r := newRig(t, answering(200, chatAnswerBody))
	c := r.begin(t, hello)
	t.Cleanup(c.req.Finish)
	return c
}

func TestEventsThatRepeatGiveWhatEachWouldGive(t *testing.T) {
	c := forwarding(t)
	for i := range repeatedEvents {
		for j := range repeatedEvents {
			var script []byte
			for n, k := range []int{4, i, i, i, i, j, i, i, j, j, j, i} {
				script = append(script, byte(k), byte(n%4))
			}
			for kind := range streamKinds {
				for _, sizes := range [][]byte{nil, {255}, {40, 3}} {
					checkForward(t, c, kind, scripted(script, ""), sizes)
				}
			}
		}
		for v := range repeatedTexts {
			for kind := range streamKinds {
				checkForward(t, c, kind, scripted([]byte{4, 0, byte(i), 0, byte(i), 0, byte(i), byte(v), byte(i), 0, byte(i), 0}, ""), nil)
			}
		}
	}
}

func FuzzEventsThatRepeat(f *testing.F) {
	for i, own := range repeatedEvents {
		f.Add([]byte{4, 0, byte(i), 0, byte(i), 1, 0xf0, 2, 0xf0, 3, 0xf0, 0, byte(i), 0}, []byte{byte(40 * i), 7}, own)
	}
	c := forwarding(f)
	f.Fuzz(func(t *testing.T, script, sizes []byte, own string) {
		if len(script) > 64 {
			return
		}
		for kind := range streamKinds {
			checkForward(t, c, kind, scripted(script, own), sizes)
		}
	})
}

// An event is sent at once, also if a comment came with it.
func TestAnEventDoesNotWaitBehindAComment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		r := newRig(t, eventStream(reader))
		w := httptest.NewRecorder()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.serveTo(t, w, post(strings.NewReader(streamed), int64(len(streamed))), wire.Chat)
		}()
		_, _ = io.WriteString(writer, firstWord+": PROCESSING\n\n")
		synctest.Wait()
		if !w.Flushed || !strings.Contains(w.Body.String(), `"Hel"`) {
			t.Errorf("the client got %q", w.Body)
		}
		_, _ = io.WriteString(writer, lastWord+doneWord)
		_ = writer.Close()
		<-ended
	})
}
