package gateway_test

import (
	"context"
	"crypto/rand"
	"io/fs"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// slowRecords is a storage that answers when it is told to.
type slowRecords struct {
	desktoptest.Storage
	asked, answer chan struct{}
}

func (s *slowRecords) List(context.Context, string, bool) ([]string, error) {
	close(s.asked)
	<-s.answer
	return nil, fs.ErrNotExist
}

// Until it is known which workstations are released, probes see the configuration before, or none.
func TestAConfigurationIsTheCurrentOneWhenItsWorkstationsAreRead(t *testing.T) {
	for _, reload := range []bool{false, true} {
		state := gateway.NewState(t.TempDir(), time.Now)
		want := report.StateStarting
		if reload {
			startDesktops(t, state, "dev", "one")
			want = report.StateReady
		}
		slow := &slowRecords{asked: make(chan struct{}), answer: make(chan struct{})}
		service, err := desktop.New(desktop.Config{
			State: state.Workstations, Storage: slow, Random: rand.Reader, Policy: desktop.Policy{Domain: "vnc.example.com"},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, gateway.Config{State: state, Workstations: service})
		started := make(chan error, 1)
		go func() { started <- r.Start(t.Context(), activity.Retention{}) }()
		<-slow.asked
		c := gateway.ReadCondition(r.Gateway)
		if c.State != want {
			t.Errorf("reload %v: %+v", reload, c)
		}
		for _, part := range c.Parts {
			if part.Name == "vnc" && part.State != report.PartOK {
				t.Errorf("reload %v: %+v", reload, part)
			}
		}
		close(slow.answer)
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		if c := gateway.ReadCondition(r.Gateway); !c.Ready() {
			t.Errorf("reload %v: %+v", reload, c)
		}
	}
}
