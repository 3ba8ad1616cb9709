package harness

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// refusals are the rows of the file that holds package apierror to its words: the status and the
// error types of each code, by the columns of its first line.
var refusals = sync.OnceValues(func() (map[string][]string, error) {
	text, err := os.ReadFile("../../internal/apierror/testdata/refusals.txt")
	rows := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		if columns := strings.Fields(line); len(columns) > 4 && columns[0] != "#" {
			rows[columns[0]] = columns
		}
	}
	return rows, err
})

// ErrorTypes returns the error types of a code with its status: a provider's own 404 and 413 have
// those of the gateway's.
func ErrorTypes(status int, code string) (words [2]string, known bool) {
	switch {
	case code == "upstream_rejected" && status == 404:
		code = "not_found"
	case code == "upstream_rejected" && status == 413:
		code = "request_too_large"
	}
	rows, err := refusals()
	row, known := rows[code]
	if err != nil || !known {
		return words, false
	}
	return [2]string{row[2], row[3]}, true
}

// IsOpenRouter reports whether a path belongs to the OpenRouter API.
func IsOpenRouter(path string) bool { return strings.Contains(path, "/api/v1/") }

// WantRefusal checks that the answer on path is the refusal: its status, the whole shape of its
// API, and the headers of every answer.
func WantRefusal(t *testing.T, path string, a Answer, status int, code string) {
	t.Helper()
	if a.Status != status || a.Header.Get("Content-Type") != "application/json" || a.Err != nil {
		t.Errorf("%s: status %d (%s, %v), want %d %s: %.300s", path, a.Status, a.Header.Get("Content-Type"), a.Err, status, code, a.Body)
		return
	}
	WantIDs(t, path, a)
	body := Parse(t, a.Body)
	if strings.HasPrefix(path, "/mcp/") {
		wantRPCError(t, path, body, status, code)
		return
	}
	if keys := Keys(body); len(keys) != 1 || keys[0] != "error" {
		t.Errorf("%s: top-level keys %v", path, keys)
	}
	WantErrorObject(t, path, At(body, "error"), status, code)
}

// wantRPCError checks a refusal that is an error of JSON-RPC to a message that is not known.
func wantRPCError(t *testing.T, path string, body any, status int, code string) {
	t.Helper()
	words, known := ErrorTypes(status, code)
	e := At(body, "error")
	if keys := Keys(body); !known || !slices.Equal(keys, []string{"error", "id", "jsonrpc"}) || At(body, "jsonrpc") != "2.0" || At(body, "id") != nil {
		t.Errorf("%s: no refusal of JSON-RPC: %v", path, body)
	}
	if message, _ := At(e, "message").(string); message == "" || At(e, "code") != Number("-31000") || At(e, "type") != words[0] {
		t.Errorf("%s: %v, want code -31000 and type %s", path, e, words[0])
	}
	if At(e, "data", "code") != code || At(e, "data", "status") != Number(strconv.Itoa(status)) {
		t.Errorf("%s: %v, want code %s and status %d in data", path, e, code, status)
	}
}

// WantErrorObject checks an error object of the path's API, in a body or an event.
func WantErrorObject(t *testing.T, path string, e any, status int, code string) {
	t.Helper()
	words, known := ErrorTypes(status, code)
	if !known {
		t.Errorf("%s: no such refusal: %s", path, code)
	}
	message, _ := At(e, "message").(string)
	if message == "" {
		t.Errorf("%s: no message in %v", path, e)
	}
	if IsOpenRouter(path) {
		if At(e, "code") != Number(strconv.Itoa(status)) || At(e, "metadata", "error_type") != words[1] {
			t.Errorf("%s: %v, want code %d and error_type %s", path, e, status, words[1])
		}
		return
	}
	if keys := Keys(e); !slices.Equal(keys, []string{"code", "message", "param", "type"}) {
		t.Errorf("%s: keys of the error: %v", path, keys)
	}
	if At(e, "code") != code || At(e, "type") != words[0] {
		t.Errorf("%s: %v, want code %s and type %s", path, e, code, words[0])
	}
	if param := At(e, "param"); param != nil {
		if s, _ := param.(string); s == "" {
			t.Errorf("%s: param %v", path, param)
		}
	}
}

// WantIDs checks the IDs that every answer has.
func WantIDs(t *testing.T, path string, a Answer) {
	t.Helper()
	if id := a.Header.Get("X-Request-Id"); !strings.HasPrefix(id, "req_") || len(id) != 36 {
		t.Errorf("%s: x-request-id %q", path, id)
	}
	if id := a.Header.Get("X-Generation-Id"); IsOpenRouter(path) != strings.HasPrefix(id, "gen-") {
		t.Errorf("%s: X-Generation-Id %q", path, id)
	}
}

// Keys are the names of an object's members, sorted.
func Keys(v any) []string {
	object, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(object))
}
