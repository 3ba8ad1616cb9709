package translate_test

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// counter numbers ids by prefix.
type counter map[string]int

func (c counter) NewID(prefix string) string {
	c[prefix]++
	return prefix + "_" + strconv.Itoa(c[prefix])
}

func (c counter) Unix() int64 { return 1700000100 }

func newCall() openai.Call {
	return openai.Call{
		Model: "fake/echo", ID: "gen-1", Created: 1700000001, Provider: "fake",
		Redact: func(s string) string { return strings.ReplaceAll(s, "canary", "[redacted]") },
	}
}

// request translates a body as a handler does.
func request(body string, opt translate.Options) ([]byte, *translate.Echo, error) {
	members, err := jsonscan.Strict([]byte(body), nil)
	if err != nil {
		return nil, nil, err
	}
	req, err := openai.ParseResponses([]byte(body), members)
	if err != nil {
		return nil, nil, err
	}
	if opt.UpstreamModel == "" {
		opt.UpstreamModel = "echo"
	}
	return translate.Request([]byte(body), members, req, opt)
}

func echoOf(t testing.TB, body string) *translate.Echo {
	t.Helper()
	_, echo, err := request(body, translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return echo
}

const plainRequest = `{"model":"fake/echo","input":"hi"}`

// drive feeds a provider's stream to a Stream as a handler does.
func drive(s openai.Stream, wire io.Reader) (string, error) {
	events := sse.NewReader(wire, 4<<20)
	var decoded openai.Events
	var out []byte
	var failure *apierror.Error
	for !s.Done() {
		event, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			failure = apierror.New(apierror.UpstreamError, "reading failed")
			break
		}
		out = s.Data(out, decoded.Next(event.Name, event.Data))
	}
	if failure == nil {
		var err error
		if out, err = s.Close(out, nil); !errors.Is(err, openai.ErrCut) {
			return string(out), err
		}
		failure = apierror.New(apierror.UpstreamError, "provider \"fake\" broke off its answer").WithCause(err)
	}
	out, err := s.Close(out, failure)
	return string(out), err
}

func stream(echo *translate.Echo, wire string) (string, error) {
	return drive(translate.NewStream(echo, newCall(), counter{}), strings.NewReader(wire))
}

// pieces reads a text in pieces of the given sizes, over and over.
type pieces struct {
	text  []byte
	sizes []byte
	n     int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	size := 1
	if len(p.sizes) > 0 {
		size += int(p.sizes[p.n%len(p.sizes)] % 32)
		p.n++
	}
	n := copy(b, p.text[:min(size, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

// chunk is one event of a provider with one choice.
func chunk(delta, finish string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"echo","choices":[{"index":0,"delta":` +
		delta + `,"finish_reason":` + finish + "}]}\n\n"
}

const (
	stop  = `"stop"`
	null  = "null"
	ended = "data: [DONE]\n\n"
)

func mustFail(t testing.TB, err error) *apierror.Error {
	t.Helper()
	var e *apierror.Error
	if !errors.As(err, &e) {
		t.Fatalf("no fault but %v", err)
	}
	return e
}

func terminals(out string) (n int) {
	for _, typ := range []string{"completed", "incomplete", "failed"} {
		n += strings.Count(out, "event: response."+typ+"\n")
	}
	return n
}
