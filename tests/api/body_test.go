package api

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestBadBodiesAreRefusedAndNotForwarded(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	const rest = `"messages":[{"role":"user","content":"x"}],"input":"x"`
	for name, c := range map[string]struct{ body, code, param string }{
		"no object":           {`[]`, "invalid_json", ""},
		"cut":                 {`{"model":"fake/echo",` + rest, "invalid_json", ""},
		"more behind":         {`{"model":"fake/echo",` + rest + `}{}`, "invalid_json", ""},
		"byte order mark":     {"\ufeff" + `{"model":"fake/echo",` + rest + `}`, "invalid_json", ""},
		"invalid UTF-8":       {`{"model":"fake/echo","x":"` + "\xff" + `",` + rest + `}`, "invalid_json", ""},
		"model twice":         {`{"model":"fake/echo",` + rest + `,"model":"fake/step"}`, "invalid_json", "model"},
		"model in two cases":  {`{"model":"fake/echo",` + rest + `,"Model":"fake/step"}`, "invalid_json", ""},
		"model escaped":       {`{"mod\u0065l":"fake/echo",` + rest + `}`, "invalid_json", ""},
		"long s":              {`{"model":"fake/echo",` + rest + `,"meſſages":[]}`, "invalid_json", ""},
		"unknown key twice":   {`{"model":"fake/echo",` + rest + `,"x":1,"X":2}`, "invalid_json", ""},
		"a nested key twice":  {`{"model":"fake/echo",` + rest + `,"input_audio":{"data":"a","data":"b"}}`, "invalid_json", "input_audio"},
		"in two cases":        {`{"model":"fake/echo",` + rest + `,"input_audio":{"data":"a","Data":"b"}}`, "invalid_json", "input_audio"},
		"a schema's twice":    {`{"model":"fake/echo",` + rest + `,"tools":[{"type":"function","function":{"parameters":{"properties":{"a":{},"\u0061":{}}}}}]}`, "invalid_json", "tools"},
		"model is a number":   {`{"model":5,` + rest + `}`, "invalid_value", "model"},
		"no model":            {`{` + rest + `}`, "missing_required_parameter", "model"},
		"stream is a string":  {`{"model":"fake/echo",` + rest + `,"stream":"true"}`, "invalid_value", "stream"},
		"background":          {`{"model":"fake/echo",` + rest + `,"background":true}`, "unsupported_parameter", "background"},
		"other account's set": {`{"model":"fake/echo",` + rest + `,"previous_response_id":"resp_1"}`, "previous_response_not_found", "previous_response_id"},
	} {
		for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter} {
			a := h.Client.Post(path, "full", c.body)
			harness.WantRefusal(t, path+": "+name, a, 400, c.code)
			if !harness.IsOpenRouter(path) && c.param != "" && harness.At(harness.Parse(t, a.Body), "error", "param") != c.param {
				t.Errorf("%s: %s: param of %s", path, name, a.Body)
			}
			if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") != c.code || harness.At(row, "status") != harness.Number("400") {
				t.Errorf("%s: %s: row %v", path, name, row)
			}
		}
	}
	for _, path := range []string{harness.ChatV1, harness.ResponsesV1} {
		r := h.Client.Request(path, "full", "x")
		r.Body, r.ContentLength = http.NoBody, 0
		harness.WantRefusal(t, path, h.Client.Send(r), 400, "invalid_json")
	}
	if list := h.Provider.Fake.Requests(); len(list) != 0 {
		t.Errorf("%d requests were forwarded; the first: %s", len(list), list[0].Body)
	}
}

const maxBody = 32 << 20 // the documented limit

func TestATooLargeContentLengthIsRefusedBeforeTheBodyComes(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
		conn, reader := h.Client.Dial()
		if _, err := io.WriteString(conn, harness.Head(path, "full", fmt.Sprintf("Content-Length: %d", maxBody+1))); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		a := harness.ReadAnswer(t, reader)
		harness.WantRefusal(t, path, a, 413, "request_too_large")
		if waited := time.Since(began).Seconds(); waited > 2 {
			t.Errorf("%s: a client that waits before it uploads got its answer after %.1f s", path, waited)
		}
		for _, fact := range []string{strconv.Itoa(maxBody), strconv.Itoa(maxBody + 1)} {
			if !strings.Contains(string(a.Body), fact) {
				t.Errorf("%s: %s is not named: %s", path, fact, a.Body)
			}
		}
	}
}

func TestAClientThatWaitsFor100ContinueIsRefusedWithoutIt(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for name, c := range map[string]struct {
		key, framing string
		status       int
	}{
		"bad key":   {"nobody", "Content-Length: 10", 401},
		"no scope":  {"models", "Content-Length: 10", 403},
		"too large": {"full", fmt.Sprintf("Content-Length: %d", maxBody+1), 413},
	} {
		conn, reader := h.Client.Dial()
		if _, err := io.WriteString(conn, harness.Head(harness.ChatV1, c.key, c.framing+"\r\nExpect: 100-continue")); err != nil {
			t.Fatal(err)
		}
		if a := harness.ReadAnswer(t, reader); a.Status != c.status {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

func TestTheClientOfATooLargeUploadSeesTheRefusal(t *testing.T) {
	h := harness.Start(t, harness.Setup{Secure: true})
	block := bytes.Repeat([]byte("x"), 1<<20)
	for name, framing := range map[string]string{"Content-Length": "Content-Length: 35651584", "chunked": "Transfer-Encoding: chunked"} {
		conn, reader := h.Client.Dial()
		if _, err := io.WriteString(conn, harness.Head(harness.ChatV1, "full", framing)); err != nil {
			t.Fatal(err)
		}
		for range 34 { // all of it, before the answer is read
			var err error
			if name == "chunked" {
				_, err = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(block), block)
			} else {
				_, err = conn.Write(block)
			}
			if err != nil {
				t.Fatalf("%s: the upload broke: %v", name, err)
			}
		}
		if name == "chunked" {
			_, _ = io.WriteString(conn, "0\r\n\r\n")
		}
		harness.WantRefusal(t, harness.ChatV1, harness.ReadAnswer(t, reader), 413, "request_too_large")
	}
	for _, origin := range []string{h.Client.Origin, h.Client.Secure} {
		r := h.Client.Request(origin+harness.ChatV1, "full", "x")
		r.Body, r.ContentLength = io.NopCloser(io.LimitReader(endless{}, 34<<20)), -1
		harness.WantRefusal(t, harness.ChatV1, h.Client.Send(r), 413, "request_too_large")
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
}

// endless is an upload of spaces.
type endless struct{}

var spaces = bytes.Repeat([]byte(" "), 64<<10)

func (endless) Read(p []byte) (int, error) { return copy(p, spaces), nil }

func TestTheLargestBodyIsAccepted(t *testing.T) {
	h := harness.Start(t, harness.Setup{Options: "body_memory 64MiB"})
	body := harness.Chat("fake/echo", "")
	body = strings.Repeat(" ", maxBody-len(body)) + body
	if a := h.Client.Post(harness.ChatV1, "full", body); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", " "+body), 413, "request_too_large")
}

func TestAFullBodyMemoryIsReportedAsBusy(t *testing.T) {
	h := harness.Start(t, harness.Setup{Options: "body_memory 96MiB"})
	nonsense := strings.Repeat("x", 30<<20)
	var uploads []net.Conn
	var readers []*bufio.Reader
	for range 2 { // both without the last byte: 60 MiB are in memory
		conn, reader := h.Client.Dial()
		if _, err := io.WriteString(conn, harness.Head(harness.ChatV1, "full", "Content-Length: "+strconv.Itoa(len(nonsense)))+nonsense[1:]); err != nil {
			t.Fatal(err)
		}
		uploads, readers = append(uploads, conn), append(readers, reader)
	}
	var busy harness.Answer
	if !harness.Eventually(func() bool { busy = h.Client.Post(harness.ChatRouter, "full", nonsense); return busy.Status == 429 }) {
		t.Fatalf("a third large body: %d %s", busy.Status, busy.Body)
	}
	harness.WantRefusal(t, harness.ChatRouter, busy, 429, "gateway_busy")
	if busy.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Errorf("a small body beside them: %d %s", a.Status, a.Body)
	}
	for i, conn := range uploads {
		if _, err := io.WriteString(conn, "x"); err != nil {
			t.Fatal(err)
		}
		harness.WantRefusal(t, harness.ChatV1, harness.ReadAnswer(t, readers[i]), 400, "invalid_json")
	}
	if !harness.Eventually(func() bool { return h.Client.Post(harness.ChatV1, "full", nonsense).Status == 400 }) {
		t.Error("the memory is not given back")
	}
}

func TestASlowUploadIsRefusedAfterTheBodyTimeout(t *testing.T) {
	h := harness.Start(t, harness.Setup{Options: "timeouts {\nbody 200ms\n}"})
	for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
		conn, reader := h.Client.Dial()
		if _, err := io.WriteString(conn, harness.Head(path, "full", "Content-Length: 1000")+`{"model":`); err != nil {
			t.Fatal(err)
		}
		harness.WantRefusal(t, path, harness.ReadAnswer(t, reader), 400, "request_timeout")
		if row := h.Records.RowSoon("status=400"); harness.At(row, "code") != "request_timeout" {
			t.Errorf("%s: row %v", path, row)
		}
	}
}

func TestAClientThatDisconnectsDuringItsUploadIsRecorded(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	conn, _ := h.Client.Dial()
	if _, err := io.WriteString(conn, harness.Head(harness.ChatV1, "full", "Content-Length: 1000")+`{"model":`); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if row := h.Records.RowSoon("status=499"); harness.At(row, "code") != "client_closed_request" {
		t.Errorf("row %v", row)
	}
	if list := h.Provider.Fake.Requests(); len(list) != 0 {
		t.Errorf("forwarded: %v", list)
	}
}
