package toolcall

import (
	"strconv"
	"strings"
	"testing"
)

// A server that repeats arguments must not tell a right guess of its credential from a wrong one.
func TestAGuessOfTheCredentialComesBackAsItWasSent(t *testing.T) {
	spelled := `\u00` + strconv.FormatInt(int64(credential[0]), 16) + credential[1:]
	for _, guess := range []string{credential, spelled, "a-wrong-guess-0123"} {
		echoed := strings.Replace(result, "hello", "you said "+guess, 1)
		for contentType, body := range map[string]string{asJSON: echoed, asEvents: event(1, echoed)} {
			w := newRig(t, answering(200, contentType, body)).serve(post(strings.Replace(toolCall("echo"), `"arguments":{`, `"arguments":{"guess":"`+guess+`",`, 1)))
			if text := w.Body.String(); !strings.Contains(text, "you said "+guess) {
				t.Errorf("%s: %s", guess, text)
			}
		}
	}
	w := newRig(t, answering(200, asJSON, strings.Replace(result, "hello", "it is "+spelled, 1))).serve(post(toolCall("echo")))
	if text := w.Body.String(); !strings.Contains(text, "it is [redacted]") {
		t.Errorf("with escapes: %s", text)
	}
}
