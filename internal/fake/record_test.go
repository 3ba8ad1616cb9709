package fake_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/fake"
)

func TestRecordKeepsHeadersAsSentOnAKeptConnection(t *testing.T) {
	p, addr := start(t)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := chatBody("echo", "")
	requests := []string{
		fmt.Sprintf("POST /v1/chat/completions?x=1 HTTP/1.1\r\nhost: a\r\nX-zz: 1\r\nauthorization: Bearer k\r\nx-ZZ:2\r\nContent-Length: %d\r\n\r\n%s", len(body), body),
		fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nb: GET / HTTP/1.1\r\n\r\n%x\r\n%s\r\n5;e=1\r\n\r\n\r\n \r\n0\r\ntrailer: 1\r\n\r\n", len(body), body),
		"GET /v1/models HTTP/1.1\r\nHost: a\r\nq: \r\n\r\n",
	}
	in := bufio.NewReader(conn)
	for _, text := range requests {
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	want := [][][2]string{
		{{"host", "a"}, {"X-zz", "1"}, {"authorization", "Bearer k"}, {"x-ZZ", "2"}, {"Content-Length", fmt.Sprint(len(body))}},
		{{"Host", "a"}, {"Transfer-Encoding", "chunked"}, {"b", "GET / HTTP/1.1"}},
		{{"Host", "a"}, {"q", ""}},
	}
	list := p.Requests()
	if len(list) != len(want) {
		t.Fatalf("%d requests", len(list))
	}
	for i, r := range list {
		if !r.HeadersAsSent || !reflect.DeepEqual(r.Headers, want[i]) {
			t.Errorf("request %d: %q", i, r.Headers)
		}
	}
	if list[0].Path != "/v1/chat/completions?x=1" || list[0].Method != "POST" || string(list[0].Body) != body || list[0].Status != 200 {
		t.Errorf("%+v", list[0])
	}
	if got := list[0].Header("X-Zz"); !reflect.DeepEqual(got, []string{"1", "2"}) {
		t.Errorf("Header: %q", got)
	}
}

func TestRecordUnderHTTPTestSortsHeaders(t *testing.T) {
	p := fake.New()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", chatV1, strings.NewReader(chatBody("echo", "")))
	r.Header.Set("B", "2")
	r.Header.Set("A", "1")
	p.ServeHTTP(w, r)
	got := p.Requests()[0]
	if want := [][2]string{{"A", "1"}, {"B", "2"}, {"Host", "example.com"}}; got.HeadersAsSent || !reflect.DeepEqual(got.Headers, want) {
		t.Errorf("%v %q", got.HeadersAsSent, got.Headers)
	}
}

func TestRecordBoundsABodyButHashesAllOfIt(t *testing.T) {
	p, addr := start(t)
	body := chatBody("echo", `,"pad":"`+strings.Repeat("x", 3<<20)+`"`)
	if r := post(t, addr, chatV1, body); r.status != 200 {
		t.Fatalf("%d", r.status)
	}
	sum := sha256.Sum256([]byte(body))
	r := p.Requests()[0]
	if len(r.Body) != 1<<20 || r.BodyBytes != int64(len(body)) || r.BodySHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%d kept, %d bytes, %s", len(r.Body), r.BodyBytes, r.BodySHA256)
	}
}

func TestRecordDropsTheOldest(t *testing.T) {
	p := fake.New()
	for range 10_001 {
		p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/nothing", nil))
	}
	if list := p.Requests(); len(list) != 10_000 || list[0].ID != 2 {
		t.Errorf("%d requests, the first is number %d", len(list), list[0].ID)
	}
	p.Reset()
	if n := len(p.Requests()); n != 0 {
		t.Errorf("%d requests after a reset", n)
	}
}

func TestRecordOfAnUploadThatBreaksOff(t *testing.T) {
	p, addr := start(t)
	conn := dial(t, addr, chatV1, chatBody("echo", ""))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Fatal(err)
	}
	p.Reset()
	half, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(half, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{", chatV1)
	half.Close()
	r := waitFor(t, p, func(r fake.Request) bool { return !r.EndedAt.IsZero() })
	if !r.ClientGone || r.Complete || !r.BodyReadAt.IsZero() {
		t.Errorf("%+v", r)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fake.New().Wait(ctx, func([]fake.Request) bool { return false }); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestControlOverHTTP(t *testing.T) {
	p, addr := start(t)
	do := func(method, path, body string) (int, []byte) {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		out, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, out
	}
	if status, _ := do("POST", "/_control/step?id=step-c&n=50", ""); status != 204 {
		t.Errorf("step: %d", status)
	}
	post(t, addr, chatV1, chatBody("step-c", streaming))
	status, out := do("GET", "/_control/requests?min=1&ended=1", "")
	var list []map[string]any
	if err := json.Unmarshal(out, &list); err != nil || status != 200 || len(list) != 1 {
		t.Fatalf("%d %v %s", status, err, out)
	}
	if at(list[0], "body") != chatBody("step-c", streaming) || at(list[0], "path") != chatV1 || at(list[0], "complete") != true ||
		at(list[0], "headers", 1, 1) == nil && at(list[0], "headers") == nil || has(list[0], "gone_at") {
		t.Errorf("%s", out)
	}
	if status, _ = do("GET", "/_control/requests?gone=1&timeout=1ms", ""); status != 504 {
		t.Errorf("waiting for nobody: %d", status)
	}
	if status, _ = do("DELETE", "/_control/requests", ""); status != 204 || len(p.Requests()) != 0 {
		t.Errorf("delete: %d", status)
	}
	for _, bad := range []string{"GET requests?min=x", "GET requests?timeout=x", "POST step?n=0", "PUT models?status=200", "PUT models"} {
		method, path, _ := strings.Cut(bad, " ")
		if status, _ = do(method, "/_control/"+path, "no list"); status != 400 {
			t.Errorf("%s: %d", bad, status)
		}
	}
	if status, _ = do("POST", "/_control/step?n=100000", ""); status != 409 {
		t.Errorf("too many tokens: %d", status)
	}
	if _, out = do("GET", "/_control/behaviours", ""); !strings.Contains(string(out), `"cut-clean":`) {
		t.Errorf("%s", out)
	}

	if status, _ = do("PUT", "/_control/models", `["b","a/c"]`); status != 204 {
		t.Errorf("models: %d", status)
	}
	if _, out = do("GET", "/v1/models", ""); string(out) !=
		`{"object":"list","data":[{"id":"b","object":"model","created":1700000000,"owned_by":"fake"},{"id":"a/c","object":"model","created":1700000000,"owned_by":"fake"}]}` {
		t.Errorf("%s", out)
	}
	do("PUT", "/_control/models?status=503", "")
	if status, _ = do("GET", "/v1/models", ""); status != 503 {
		t.Errorf("failing list: %d", status)
	}
	do("PUT", "/_control/models", "null")
	if status, out = do("GET", "/v1/models/echo", ""); status != 200 || !strings.Contains(string(out), `"id":"echo"`) {
		t.Errorf("%d %s", status, out)
	}
	if status, _ = do("GET", "/v1/models/nobody", ""); status != 404 {
		t.Errorf("unknown model: %d", status)
	}
}

func TestModelListOfTheSecondFamilyHasPages(t *testing.T) {
	p, addr := start(t)
	p.SetModels([]string{"a", "b", "c"})
	for query, want := range map[string][]any{
		"":                  {3, "a", nil},
		"?limit=2":          {2, "a", "/api/v1/models?offset=2&limit=2"},
		"?offset=2&limit=2": {1, "c", nil},
		"?offset=9":         {0, nil, nil},
		"?offset=-1":        {3, "a", nil},
	} {
		resp, err := http.Get("http://" + addr + "/api/v1/models" + query)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		o := decode(t, body)
		got := []any{len(at(o, "data").([]any)), at(o, "data", 0, "id"), at(o, "links", "next")}
		if !reflect.DeepEqual(got, want) || at(o, "total_count") != json.Number("3") {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}
