package vnclocal

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const (
	// protocol is the subprotocol of the WebSocket. Its first message is the token.
	protocol = "gatehouse.vnc.1"
	// passwordLength is all that VNC Authentication looks at.
	passwordLength = 8
	// linger is how long a viewer may take to close after the end of the desktop. One that is cut off
	// at once reports an error, or asks to reconnect.
	linger = time.Second
)

// ErrPassword is returned if the viewer's password is wrong.
var ErrPassword = errors.New("the viewer's password is wrong")

// NewPassword returns a password for one viewer.
func NewPassword() string { return strings.ToLower(rand.Text()[:passwordLength]) }

// Serve brings a viewer to the desktop of an address, and returns when either has ended it. With a password
// the viewer has to know it, by VNC Authentication; without, it is asked for nothing. It closes the
// connection of the viewer. Ended is why the gateway has ended an open desktop, "" if it did not or has not
// said so: over TLS it cannot. An error that the gateway gives a reason for has it, and so has the viewer.
func (g *Gateway) Serve(ctx context.Context, a Address, viewer net.Conn, password string) (ended string, err error) {
	defer viewer.Close()
	defer context.AfterFunc(ctx, func() { _ = viewer.Close() })()
	offer := rfb.Offer{None: password == ""}
	if password != "" {
		offer.VNCAuth, offer.Challenge = true, challenge
	}
	server := rfb.NewServer(viewer, rfb.Timeouts{})
	proof, err := server.Negotiate(offer)
	if err != nil {
		return "", err
	}
	if password != "" && !rfb.VerifyVNC(proof.Challenge, proof.Response, password) {
		_ = server.Refuse("The password is wrong.") // the connection is closed in any case
		return "", ErrPassword
	}
	conn, err := g.open(ctx, a)
	if err != nil {
		_ = server.Refuse("The gateway cannot be reached.")
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	desktop, err := rfb.Connect(conn, rfb.Login{}, requestTimeout)
	if err != nil {
		return "", refused(server, err)
	}
	if err := server.Accept(); err != nil {
		return "", err
	}
	if _, err := server.ClientInit(); err != nil { // the gateway's on_conflict decides, not the shared flag
		return "", err
	}
	if err := server.ServerInit(desktop.Init); err != nil {
		return "", err
	}
	return relay(viewer, desktop.Conn), nil
}

func challenge() (c [16]byte) {
	_, _ = rand.Read(c[:]) // never fails
	return c
}

// refused shows the viewer why there is no desktop.
func refused(server *rfb.Server, err error) error {
	var why *rfb.RefusedError
	if !errors.As(err, &why) {
		_ = server.Refuse("The gateway did not show the desktop.") // the connection is closed in any case
		return err
	}
	_ = server.Refuse(why.Reason)
	return errors.New("the gateway refuses: " + why.Reason)
}

// open connects to the gateway: over TLS with the name of the address, or over a WebSocket.
func (g *Gateway) open(ctx context.Context, a Address) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if g.Socket {
		return g.openSocket(ctx, a)
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(a.Host, a.Port))
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, g.tls(a.Host))
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

func (g *Gateway) openSocket(ctx context.Context, a Address) (net.Conn, error) {
	ws, resp, err := websocket.Dial(ctx, g.path(a.Workstation, "socket"), &websocket.DialOptions{
		HTTPClient: g.client(), HTTPHeader: g.header(), Subprotocols: []string{protocol}, CompressionMode: websocket.CompressionDisabled,
	})
	if resp != nil && resp.Body != nil {
		defer resp.Body.Close()
	}
	if err != nil {
		if resp != nil {
			err = errors.New("GET …/socket: " + resp.Status)
		}
		return nil, err
	}
	conn := websocket.NetConn(context.WithoutCancel(ctx), ws, websocket.MessageBinary) // the caller closes it
	if _, err := io.WriteString(conn, a.token()); err != nil {
		_ = ws.CloseNow()
		return nil, err
	}
	return conn, nil
}

// relay carries bytes both ways until either side ends. It returns the reason of a Close.
func relay(viewer, desktop net.Conn) string {
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(desktop, viewer) // its end is an end, whatever it was
		_ = desktop.Close()
	})
	_, err := io.Copy(viewer, desktop)
	if half, ok := viewer.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the viewer may be gone
	}
	_ = viewer.SetReadDeadline(time.Now().Add(linger))
	up.Wait()
	var end websocket.CloseError
	_ = errors.As(err, &end)
	return printable(end.Reason)
}
