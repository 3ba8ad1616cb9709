package faults_test

import (
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

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

func TestRecordSortsHeaders(t *testing.T) {
	p := faults.New()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", chatV1, strings.NewReader(chatBody("echo", "")))
	r.Header.Set("B", "2")
	r.Header.Set("A", "1")
	p.ServeHTTP(w, r)
	got := p.Requests()[0]
	if want := [][2]string{{"A", "1"}, {"B", "2"}, {"Host", "example.com"}}; !reflect.DeepEqual(got.Headers, want) {
		t.Errorf("%q", got.Headers)
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
	p := faults.New()
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
	r := waitFor(t, p, func(r faults.Request) bool { return !r.EndedAt.IsZero() })
	if !r.ClientGone || r.Complete || !r.BodyReadAt.IsZero() {
		t.Errorf("%+v", r)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := faults.New().Wait(ctx, func([]faults.Request) bool { return false }); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestRecordOverHTTP(t *testing.T) {
	_, addr := start(t)
	post(t, addr, chatV1, chatBody("echo", ""))
	resp, err := http.Get("http://" + addr + "/_control/requests")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list []map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if at(list[0], "body") != chatBody("echo", "") || at(list[0], "path") != chatV1 || at(list[0], "headers", 0, 1) != "Bearer canary-key" || has(list[0], "gone_at") {
		t.Errorf("%v", list[0])
	}
}
