// Package viewer is the command caddy gatehouse desktop, for the machine of a person at a VNC viewer. It asks
// no admin endpoint and reads no configuration.
package viewer

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/cli"
	"github.com/gatehouse-proxy/gatehouse/internal/vnclocal"
)

// Variables of the environment that say which gateway, and with which key.
const (
	gatewayVariable = "GATEWAY_URL"
	keyVariable     = "GATEWAY_API_KEY"
)

// desktopFlags are those of `caddy gatehouse desktop`.
type desktopFlags struct {
	gateway, keyFile, ca, listen, viewer string
	https, password                      bool
	viewOnly, shared, takeOver           bool
}

func init() { cli.Add(newCommand) }

// newCommand is `caddy gatehouse desktop NAME`.
func newCommand() *cobra.Command {
	f := new(desktopFlags)
	cmd := &cobra.Command{
		Use: "desktop NAME", Short: "Open the desktop of a workstation in any VNC viewer on this machine", Args: cobra.ExactArgs(1),
		Long: "Asks a gateway for the address of a workstation, and waits 30 seconds for one viewer on the loopback\n" +
			"interface, which needs neither TLS nor a server name. The key is in the variable " + keyVariable + " or a file.",
		Example: "  caddy gatehouse desktop desk1 --gateway https://gateway.example.com --viewer vncviewer\n" +
			"  caddy gatehouse desktop desk1 --https --password --viewer \"remote-viewer vnc://127.0.0.1:{port}\"",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		flag := func(name string, value *bool) *bool {
			if cmd.Flags().Changed(name) {
				return value
			}
			return nil
		}
		order := vnclocal.Order{ViewOnly: flag("view-only", &f.viewOnly), Shared: flag("shared", &f.shared), TakeOver: flag("take-over", &f.takeOver)}
		err := f.open(ctx, cmd.OutOrStdout(), args[0], order)
		if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
			err = fmt.Errorf("%w; name the CA with --ca: that of Caddy itself is pki/authorities/local/root.crt in its data folder", err)
		}
		return err
	}
	flags := cmd.Flags()
	flags.StringVar(&f.gateway, "gateway", os.Getenv(gatewayVariable), "the address of the gateway, https://… (default: $"+gatewayVariable+")")
	flags.StringVar(&f.keyFile, "key-file", "", "a file with the key (default: $"+keyVariable+")")
	flags.StringVar(&f.ca, "ca", "", "a PEM file with the CA of the gateway's certificates (default: those of the system)")
	flags.BoolVar(&f.https, "https", false, "come over the gateway's HTTPS port alone, by a WebSocket")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "where the viewer connects to, on the loopback interface")
	flags.StringVar(&f.viewer, "viewer", "", "start this program, and end with it; {port} stands for the port, else its last argument is the address")
	flags.BoolVar(&f.password, "password", false, "ask the viewer for a password that is printed and good once; some viewers insist on one")
	flags.BoolVar(&f.viewOnly, "view-only", false, "only watch")
	flags.BoolVar(&f.shared, "shared", false, "let others join, or join others")
	flags.BoolVar(&f.takeOver, "take-over", false, "end the sessions of this key at the workstation")
	return cmd
}

// open serves one viewer to its end.
func (f *desktopFlags) open(ctx context.Context, out io.Writer, workstation string, order vnclocal.Order) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gateway, err := f.dial()
	if err != nil {
		return err
	}
	listener, err := vnclocal.Listen(f.listen)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // Accept may have done so
	address, err := gateway.Issue(ctx, workstation, order)
	if err != nil {
		return err
	}
	password := ""
	if f.password {
		password = vnclocal.NewPassword()
		fmt.Fprintf(out, "Password, good once: %s\n", password)
	}
	if f.viewer == "" {
		fmt.Fprintf(out, "Connect a viewer on this machine within 30 seconds: %s\n", viewerAddress(listener))
	} else {
		var stop func()
		if ctx, stop, err = startViewer(ctx, f.viewer, listener); err != nil {
			return err
		}
		defer stop()
	}
	viewer, err := listener.Accept(ctx)
	if err != nil {
		cancel() // a viewer that was started and has not come
		return err
	}
	ended, err := gateway.Serve(ctx, address, viewer, password)
	if ended != "" {
		fmt.Fprintln(out, ended)
	}
	return err
}

// dial returns the gateway that the flags name.
func (f *desktopFlags) dial() (*vnclocal.Gateway, error) {
	key := os.Getenv(keyVariable)
	if f.keyFile != "" {
		text, err := os.ReadFile(f.keyFile)
		if err != nil {
			return nil, err
		}
		key = strings.TrimSpace(string(text))
	}
	if key == "" {
		return nil, fmt.Errorf("there is no key: set %s, or name a file with --key-file", keyVariable)
	}
	if f.gateway == "" {
		return nil, fmt.Errorf("which gateway? Name it with --gateway https://…, or set %s", gatewayVariable)
	}
	gateway, err := vnclocal.New(f.gateway, key)
	if err != nil {
		return nil, err
	}
	gateway.Socket = f.https
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, err
		}
		gateway.Roots = x509.NewCertPool()
		if !gateway.Roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate in PEM", f.ca)
		}
	}
	return gateway, nil
}

// viewerAddress is where a viewer connects to: two colons make a port of the number, not a display.
func viewerAddress(l *vnclocal.Listener) string {
	return fmt.Sprintf("%s::%d", l.Addr().Addr(), l.Addr().Port())
}

// errViewer is the cause of the end of a viewer that was started.
var errViewer = errors.New("the viewer has ended")

// startViewer runs a viewer. Its end ends the context; stop waits for it.
func startViewer(ctx context.Context, command string, listener *vnclocal.Listener) (ended context.Context, stop func(), err error) {
	words, port := strings.Fields(command), fmt.Sprint(listener.Addr().Port())
	if len(words) == 0 {
		return nil, nil, errors.New("--viewer: no program is named")
	}
	if strings.Contains(command, "{port}") {
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "{port}", port)
		}
	} else {
		words = append(words, viewerAddress(listener))
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("--viewer: %w", err)
	}
	ended, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		err := cmd.Wait()
		if err != nil {
			err = fmt.Errorf("%w: %w", errViewer, err)
		} else {
			err = errViewer
		}
		cancel(err)
	}()
	return ended, func() { <-over }, nil
}
