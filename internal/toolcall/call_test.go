package toolcall

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestACallOfAToolIsRelayed(t *testing.T) {
	var sent *http.Request
	var body []byte
	r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		sent = req
		body, _ = io.ReadAll(req.Body)
		return reply(200, asJSON, strings.NewReader(result)), nil
	}))
	w := r.serve(post(toolCall("echo")))
	if w.Code != 200 || w.Body.String() != result {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if string(body) != toolCall("echo") || sent.Header.Get("Authorization") != "Bearer "+credential || sent.Header.Get("Mcp-Name") != "echo" {
		t.Errorf("sent %v %s", sent.Header, body)
	}
	row := r.row(t)
	if row.Provider != "files" || row.Model != "files/echo" || row.Method != "tools/call" || row.IsError || row.Status != 200 || row.Code != "" ||
		row.RequestBytes != int64(len(body)) || row.AnswerBytes != int64(len(result)) || row.Attempts != 1 {
		t.Errorf("%+v", row)
	}
	r.released(t)
}
