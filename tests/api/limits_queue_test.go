package api

import (
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestADisconnectedQueuedCallHoldsNoSlot(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("concurrency 1 queue 1 1m")})
	body := harness.Hello("fake/echo")
	_, conn, _ := harness.Behind(h, harness.Head(harness.ChatV1, "full", fmt.Sprint("Content-Length: ", len(body)))+body)
	harness.WantInFlight(h, 2)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	harness.WantInFlight(h, 1)
	if n := len(h.Provider.Fake.Requests()); n != 1 {
		t.Errorf("%d calls reached the provider", n)
	}
}

func TestASlowUploadIsTurnedAwayWhenTheWaitIsOver(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("concurrency 1 queue 1 100ms")})
	_, _, read := harness.Behind(h, harness.Head(harness.ChatV1, "full", "Content-Length: 1000")+`{"model":`)
	harness.WantRefusal(t, harness.ChatV1, read(), 429, "concurrency_limit_exceeded")
	harness.WantInFlight(h, 1)
}

func TestAQueuedCallIsServed(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("concurrency 1 queue 1 20s")})
	body := harness.Hello("fake/echo")
	length := fmt.Sprint("Content-Length: ", len(body))
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for framing, sent := range map[string]string{length: body, length + "\r\nExpect: 100-continue": body, "Transfer-Encoding: chunked": chunked} {
		atWork, _, read := harness.Behind(h, harness.Head(harness.ChatV1, "full", framing)+sent)
		harness.WantInFlight(h, 2)
		atWork.Disconnect()
		a := read()
		if a.Status == 100 {
			a = read()
		}
		if a.Status != 200 {
			t.Errorf("%s: %d %s", framing, a.Status, a.Body)
		}
		harness.WantInFlight(h, 0)
	}
}
