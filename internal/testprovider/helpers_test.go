package testprovider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

const base = "http://provider.invalid/some/base/v1"

// newTransport counts ids and stands still in time.
func newTransport() *testprovider.Transport {
	ids := 0
	return &testprovider.Transport{
		Now:   func() time.Time { return time.Unix(1_800_000_000, 0) },
		NewID: func() string { ids++; return strconv.Itoa(ids) },
	}
}

func send(t *testing.T, method, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := newTransport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// post returns the decoded answer of a call that has to succeed.
func post[T any](t *testing.T, path, body string) T {
	t.Helper()
	resp := send(t, http.MethodPost, path, body)
	answer := readAll(t, resp)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", resp.StatusCode, answer)
	}
	var v T
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return v
}

// refused returns status, code and param of a call that has to fail.
func refused(t *testing.T, method, path, body string) string {
	t.Helper()
	resp := send(t, method, path, body)
	var v struct {
		Error map[string]*string `json:"error"`
	}
	if err := json.Unmarshal([]byte(readAll(t, resp)), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Error) != 4 || v.Error["message"] == nil || v.Error["type"] == nil {
		t.Fatalf("not an error object: %v", v.Error)
	}
	text := fmt.Sprint(resp.StatusCode, " ", *v.Error["type"])
	for _, key := range []string{"code", "param"} {
		if v.Error[key] != nil {
			text += " " + *v.Error[key]
		} else {
			text += " null"
		}
	}
	return text
}

// events splits a stream into its events, "data: " or "event: x\ndata: " taken off.
func events(t *testing.T, stream string) (names, data []string) {
	t.Helper()
	whole, rest := stream, ""
	for whole != "" {
		var ok bool
		if rest, whole, ok = strings.Cut(whole, "\n\n"); !ok {
			t.Fatalf("the stream ends inside of an event: %q", rest)
		}
		name := ""
		if tail, ok := strings.CutPrefix(rest, "event: "); ok {
			name, rest, _ = strings.Cut(tail, "\n")
		}
		payload, ok := strings.CutPrefix(rest, "data: ")
		if !ok || strings.Contains(payload, "\n") {
			t.Fatalf("not an event: %q", rest)
		}
		names, data = append(names, name), append(data, payload)
	}
	return names, data
}

// sameJSON compares documents; numbers, nulls and absent keys count.
func sameJSON(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	if !reflect.DeepEqual(g, w) {
		var pretty bytes.Buffer
		json.Indent(&pretty, []byte(got), "", "  ")
		t.Errorf("got\n%s\nwant\n%s", pretty.String(), want)
	}
}
