package socket

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAHandshakeThatIsNoneIsRefused(t *testing.T) {
	whole := http.Header{
		"Upgrade": {"websocket"}, "Connection": {"keep-alive, Upgrade"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="},
	}
	for wrong, value := range map[string]string{"": "", "Connection": "keep-alive", "Sec-Websocket-Version": "8", "Sec-Websocket-Key": "short"} {
		r := httptest.NewRequest(http.MethodGet, "/v1/responses", nil)
		r.Header = whole.Clone()
		if wrong != "" {
			r.Header.Set(wrong, value)
		}
		if err := Check(r); (err == nil) != (wrong == "") {
			t.Errorf("%s %q: %v", wrong, value, err)
		}
	}
}
