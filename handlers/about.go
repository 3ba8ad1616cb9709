package handlers

import (
	"context"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// serveAbout says what the gateway is and, to those who may know, what it keeps and how it is.
func serveAbout(x *Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	about, err := Part[interface {
		About(ctx context.Context, key *keys.Key) any
	}](x)
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, about.About(x.HTTP.Context(), x.Req.Caller.Key))
}
