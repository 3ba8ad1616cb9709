package console

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const (
	// startWait is how long a page waits for the start of the gateway before it says so. A reload
	// takes less.
	startWait = 500 * time.Millisecond
	// reloadAfter is after how many seconds the browser loads the page again. No JavaScript is needed.
	reloadAfter = 2
)

// started waits for the gateway until a person would wonder. If it has not started then, the answer
// is a page that says what it waits for and loads itself again, and started returns false.
func started(c *Config, w http.ResponseWriter, r *http.Request) bool {
	ctx, cancel := context.WithTimeout(r.Context(), startWait)
	defer cancel()
	err := c.Gateway.Ready(ctx)
	if err == nil {
		return true
	}
	page := startingPage{Again: reloadAfter}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		page = startingPage{Failed: true} // this configuration will not start
	}
	w.Header().Set("Retry-After", "2")
	data := layout{Title: page.title(), Theme: theme(r), Path: r.URL.RequestURI(), Now: c.Now(), Page: page}
	if err := writePage(w, http.StatusServiceUnavailable, "starting", data); err != nil {
		http.Error(w, "the gateway starts", http.StatusServiceUnavailable)
	}
	return false
}

// startingPage is what its template shows.
type startingPage struct {
	Again  int  // seconds until the page is loaded again; 0: it is not
	Failed bool // the gateway has stopped before it had started
}

func (p startingPage) title() string {
	if p.Failed {
		return "The gateway did not start"
	}
	return "The gateway is starting"
}
