package tests

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestBadBodiesAreRefusedAndNotForwarded(t *testing.T) {
	h := start(t, setup{})
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
		"model is a number":   {`{"model":5,` + rest + `}`, "invalid_value", "model"},
		"no model":            {`{` + rest + `}`, "missing_required_parameter", "model"},
		"stream is a string":  {`{"model":"fake/echo",` + rest + `,"stream":"true"}`, "invalid_value", "stream"},
		"background":          {`{"model":"fake/echo",` + rest + `,"background":true}`, "unsupported_parameter", "background"},
		"other account's set": {`{"model":"fake/echo",` + rest + `,"previous_response_id":"resp_1"}`, "previous_response_not_found", "previous_response_id"},
	} {
		for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR} {
			a := h.post(path, "full", c.body)
			wantRefusal(t, path+": "+name, a, 400, c.code)
			if !isOpenRouter(path) && c.param != "" && at(parse(t, a.body), "error", "param") != c.param {
				t.Errorf("%s: %s: param of %s", path, name, a.body)
			}
			if row := h.row(a.header.Get("X-Request-Id")); at(row, "code") != c.code || at(row, "status") != number("400") {
				t.Errorf("%s: %s: row %v", path, name, row)
			}
		}
	}
	for _, path := range []string{chatV1, responsesV1} {
		r := h.request(path, "full", "x")
		r.Body, r.ContentLength = http.NoBody, 0
		wantRefusal(t, path, h.send(r), 400, "invalid_json")
	}
	if list := h.upstream.Requests(); len(list) != 0 {
		t.Errorf("%d requests were forwarded; the first: %s", len(list), list[0].Body)
	}
}

func TestEncodedBodiesAreRefused(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{chatV1, chatRouter, responsesV1} {
		for _, encoding := range []string{"gzip", "br", "gzip, identity"} {
			r := h.request(path, "full", bodyFor(path, "fake/echo", ""))
			r.Header.Set("Content-Encoding", encoding)
			wantRefusal(t, path, h.send(r), 415, "unsupported_encoding")
		}
		r := h.request(path, "full", bodyFor(path, "fake/echo", ""))
		r.Header.Set("Content-Encoding", "identity")
		if a := h.send(r); a.status != 200 {
			t.Errorf("%s: identity: %d %s", path, a.status, a.body)
		}
	}
}

const maxBody = 32 << 20 // the documented limit

// dial opens a connection on which a test writes its request by hand.
func (h *harness) dial() (net.Conn, *bufio.Reader) {
	h.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.origin, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(waitLimit)); err != nil {
		h.t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func head(path, key, framing string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", path, secretOf(key), framing)
}

func readAnswer(t *testing.T, reader *bufio.Reader) answer {
	t.Helper()
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal("no answer: ", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, body, err}
}

func TestATooLargeContentLengthIsRefusedBeforeTheBodyComes(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{chatV1, chatRouter, responsesV1} {
		conn, reader := h.dial()
		if _, err := io.WriteString(conn, head(path, "full", fmt.Sprintf("Content-Length: %d", maxBody+1))); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		a := readAnswer(t, reader)
		wantRefusal(t, path, a, 413, "request_too_large")
		if waited := time.Since(began).Seconds(); waited > 2 {
			t.Errorf("%s: a client that waits before it uploads got its answer after %.1f s", path, waited)
		}
		for _, fact := range []string{itoa(maxBody), itoa(maxBody + 1)} {
			if !strings.Contains(string(a.body), fact) {
				t.Errorf("%s: %s is not named: %s", path, fact, a.body)
			}
		}
	}
}

func TestAClientThatWaitsFor100ContinueIsRefusedWithoutIt(t *testing.T) {
	h := start(t, setup{})
	for name, c := range map[string]struct {
		key, framing string
		status       int
	}{
		"bad key":   {"nobody", "Content-Length: 10", 401},
		"no scope":  {"models", "Content-Length: 10", 403},
		"too large": {"full", fmt.Sprintf("Content-Length: %d", maxBody+1), 413},
	} {
		conn, reader := h.dial()
		if _, err := io.WriteString(conn, head(chatV1, c.key, c.framing+"\r\nExpect: 100-continue")); err != nil {
			t.Fatal(err)
		}
		if a := readAnswer(t, reader); a.status != c.status {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func TestTheClientOfATooLargeUploadSeesTheRefusal(t *testing.T) {
	h := start(t, setup{secure: true})
	block := bytes.Repeat([]byte("x"), 1<<20)
	for name, framing := range map[string]string{"Content-Length": "Content-Length: 35651584", "chunked": "Transfer-Encoding: chunked"} {
		conn, reader := h.dial()
		if _, err := io.WriteString(conn, head(chatV1, "full", framing)); err != nil {
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
		wantRefusal(t, chatV1, readAnswer(t, reader), 413, "request_too_large")
	}
	for _, origin := range []string{h.origin, h.secure} {
		r := h.request(origin+chatV1, "full", "x")
		r.Body, r.ContentLength = io.NopCloser(io.LimitReader(endless{}, 34<<20)), -1
		wantRefusal(t, chatV1, h.send(r), 413, "request_too_large")
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
}

// endless is an upload that repeats one byte.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestTheLargestBodyIsAccepted(t *testing.T) {
	h := start(t, setup{options: "body_memory 64MiB"})
	body := chat("fake/echo", "")
	body = strings.Repeat(" ", maxBody-len(body)) + body
	if a := h.post(chatV1, "full", body); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	wantRefusal(t, chatV1, h.post(chatV1, "full", " "+body), 413, "request_too_large")
}

func TestAFullBodyMemoryIsReportedAsBusy(t *testing.T) {
	h := start(t, setup{options: "body_memory 96MiB"})
	nonsense := strings.Repeat("x", 30<<20)
	var uploads []net.Conn
	var readers []*bufio.Reader
	for range 2 { // both without the last byte: 60 MiB are in memory
		conn, reader := h.dial()
		if _, err := io.WriteString(conn, head(chatV1, "full", "Content-Length: "+itoa(len(nonsense)))+nonsense[1:]); err != nil {
			t.Fatal(err)
		}
		uploads, readers = append(uploads, conn), append(readers, reader)
	}
	var busy answer
	if !eventually(func() bool { busy = h.post(chatRouter, "full", nonsense); return busy.status == 429 }) {
		t.Fatalf("a third large body: %d %s", busy.status, busy.body)
	}
	wantRefusal(t, chatRouter, busy, 429, "gateway_busy")
	if busy.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 {
		t.Errorf("a small body beside them: %d %s", a.status, a.body)
	}
	for i, conn := range uploads {
		if _, err := io.WriteString(conn, "x"); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, chatV1, readAnswer(t, readers[i]), 400, "invalid_json")
	}
	if !eventually(func() bool { return h.post(chatV1, "full", nonsense).status == 400 }) {
		t.Error("the memory is not given back")
	}
}

func TestASlowUploadIsRefusedAfterTheBodyTimeout(t *testing.T) {
	h := start(t, setup{options: "timeouts {\nbody 200ms\n}"})
	for _, path := range []string{chatV1, chatRouter, responsesV1} {
		conn, reader := h.dial()
		if _, err := io.WriteString(conn, head(path, "full", "Content-Length: 1000")+`{"model":`); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, path, readAnswer(t, reader), 400, "request_timeout")
		if row := h.rowSoon("status=400"); at(row, "code") != "request_timeout" {
			t.Errorf("%s: row %v", path, row)
		}
	}
}

func TestAClientThatDisconnectsDuringItsUploadIsRecorded(t *testing.T) {
	h := start(t, setup{})
	conn, _ := h.dial()
	if _, err := io.WriteString(conn, head(chatV1, "full", "Content-Length: 1000")+`{"model":`); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if row := h.rowSoon("status=499"); at(row, "code") != "client_closed_request" {
		t.Errorf("row %v", row)
	}
	if list := h.upstream.Requests(); len(list) != 0 {
		t.Errorf("forwarded: %v", list)
	}
}
