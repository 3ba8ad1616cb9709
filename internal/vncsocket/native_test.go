package vncsocket

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// native serves programs of native viewers of one workstation. Their requests are of no page.
func native(workstation string) func(*Options) {
	return func(o *Options) { o.Native, o.Workstation = true, workstation }
}

// A native viewer cannot come back by itself: it stays where a page moves to another gateway.
func TestANativeViewerStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, native("one"))
		f.origin = "http://elsewhere.test"
		var move context.CancelCauseFunc
		f.Context, move = context.WithCancelCause(context.Background())
		b := f.desktop()
		views, err := f.Service.Sessions("default", "one")
		if err != nil || len(views) != 1 || views[0].Security != "socket" {
			t.Errorf("sessions %+v, %v", views, err)
		}
		move(vncsession.ErrMove)
		time.Sleep(10 * time.Second)
		b.play(conversation{"C " + pointer, "S " + pointer})
		b.leave()
		<-f.Left
		f.WantRecord("", "viewer_left")
	})
}

// The path names the workstation: a token of another one opens nothing there.
func TestATokenOfAnotherWorkstationDoesNotExist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, native("two"))
		b := f.show(f.Issue(desktop.Options{}))
		const text = "This VNC address is not valid. Ask for a new one."
		b.play(chosen)
		rest := make([]byte, 8+len(text))
		if _, err := b.Read(rest); err != nil || string(rest[8:]) != text {
			t.Errorf("%q, %v", rest, err)
		}
		b.wantClose(codePolicy, text)
	})
}
