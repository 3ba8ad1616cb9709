package core

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

func init() { caddy.OnExit(afterStop) }

const (
	// exitTimeout bounds how long the process waits for interrupted calls to write their records
	// before it exits.
	exitTimeout = 2 * time.Second
	// drainTimeout bounds it where thousands of desktops may have ended at one moment.
	drainTimeout = 10 * time.Second
)

// leaving is what an app waits for when the process exits.
type leaving struct {
	drain  *gateway.Drain  // of desktops that go on; set by end
	ending <-chan struct{} // closed when features have ended; nil: none is asked to
}

// drainLimit is how long desktops go on when the process is asked to stop.
func (a *App) drainLimit() time.Duration {
	if a.VNC == nil {
		return 0
	}
	return time.Duration(a.VNC.Drain)
}

// endOnce retires the gateway. When the process exits, it also ends the calls of all
// configurations, or leaves that to afterStop if desktops go on.
func (a *App) endOnce() error {
	if !caddy.Exiting() {
		a.gateway.Close()
		return nil
	}
	if a.leaves.ending != nil {
		<-a.leaves.ending
	}
	if a.leaves.drain = a.state.Drain(); a.leaves.drain != nil {
		return nil
	}
	return a.exit(exitTimeout)
}

// exit ends the gateway, and what is left of all configurations.
func (a *App) exit(timeout time.Duration) error {
	a.gateway.Close()
	return a.state.Shutdown(timeout)
}

// onStopping begins the exit of the process, during which the admin API stays at work.
type onStopping struct{ app *App }

// Handle runs before the apps of a configuration stop.
func (s onStopping) Handle(context.Context, caddy.Event) error {
	if caddy.Exiting() {
		caddykit.Exit(s.app)
		s.app.state.Exit(s.app.drainLimit())
		s.app.leaves.ending = s.app.endFeatures()
	}
	return nil
}

// endFeatures ends what features have open, such as connections that Caddy does not know any more.
// It may take as long as calls of HTTP may. What it returns is closed at the end.
func (a *App) endFeatures() <-chan struct{} {
	ctx, cancel := context.WithCancel(context.Background())
	if module, err := a.ctx.AppIfConfigured("http"); err == nil {
		if grace := module.(*caddyhttp.App).GracePeriod; grace > 0 {
			ctx, cancel = context.WithTimeout(context.Background(), time.Duration(grace))
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		a.gateway.Drain(ctx)
	}()
	return ended
}

// afterStop lets desktops go on that may. All apps of the process have stopped, and only the admin
// endpoint still answers.
func afterStop(context.Context) {
	a, _ := caddykit.Exiting().(*App)
	if a == nil || a.leaves.drain == nil {
		return
	}
	a.logger.Info("desktops go on while the process exits", zap.Duration("drain", a.drainLimit()))
	a.leaves.drain.Wait()
	if err := a.exit(drainTimeout); err != nil {
		a.logger.Error("the end of the gateway", zap.Error(err))
	}
}
