package replay

import (
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

func TestAKeyLeavesReplaysToOthers(t *testing.T) {
	r := Recordings{recording.NewStore(recording.Settings{Dir: t.TempDir()}, func() string { return "" }, zap.NewNop(), time.Now)}
	code := func(by Viewer) apierror.Code {
		by.Sees = func(string) bool { return true }
		return apierror.From(r.Export(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), "vnc-0123456789abcdef", by)).Code
	}
	greedy := Viewer{Tenant: "default", Key: "greedy"}
	held := 0
	for code(greedy) == apierror.NotFound { // it had a place
		release, ok := underWay.Acquire(greedy.Tenant, greedy.Key, maxUnderWay)
		if !ok {
			t.Fatal("a place is not free again")
		}
		defer release()
		held++
	}
	if got := code(greedy); got != apierror.GatewayBusy || held >= maxUnderWay {
		t.Errorf("%s with %d of %d", got, held, maxUnderWay)
	}
	for _, other := range []Viewer{{Tenant: "default", Key: "other"}, {Tenant: "acme", Key: "greedy"}} {
		if got := code(other); got != apierror.NotFound {
			t.Errorf("%s of %s: %s", other.Key, other.Tenant, got)
		}
	}
}
