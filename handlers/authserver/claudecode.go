package authserver

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	signins "github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
)

// serveManaged answers with the managed settings of the caller's role.
func serveManaged(x *handlers.Request) error {
	s, err := handlers.Part[*signins.SignIns](x)
	if err != nil {
		return err
	}
	m := s.Managed(x.Req.Caller.Secret, x.Req.Caller.Limits)
	if m == nil {
		return apierror.New(apierror.NotFound, "there are no managed settings for this caller")
	}
	x.Writer.Header().Set("ETag", m.Tag)
	if x.HTTP.Header.Get("If-None-Match") == m.Tag {
		x.Req.Outcome.Succeed(http.StatusNotModified)
		x.Writer.WriteHeader(http.StatusNotModified)
		return nil
	}
	return x.Succeed(m.Answer, nil)
}
