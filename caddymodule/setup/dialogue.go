package setup

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// dialogue asks a person in a terminal.
type dialogue struct {
	in     *bufio.Reader
	out    io.Writer
	given  func(flag string) bool
	secret func() (string, error) // reads a line without an echo
}

// ask asks for what no flag says. A wrong answer is asked again.
func (d *dialogue) ask(a *answers) error {
	if _, err := fmt.Fprint(d.out, "Enter takes what is in brackets.\n\n"); err != nil {
		return err
	}
	for _, q := range []struct {
		flag, text, usual string
		take              func(answer string) error
	}{
		{"host", "Name of the gateway in DNS", "only this machine", func(answer string) error {
			a.host = answer
			return a.checkHost()
		}},
		{"provider", "Providers: openai openrouter anthropic gemini mistral, or NAME=URL of your own server", testProvider, func(answer string) error {
			a.providers = strings.Fields(answer)
			_, err := a.parseProviders()
			return err
		}},
		{"key", "Name of the first key", defaultKey, func(answer string) error {
			a.key = cmp.Or(answer, defaultKey)
			return a.checkKey()
		}},
		{"budget", "Its budget, such as 1M tokens/day", "none", func(answer string) error {
			a.budget = answer
			return a.checkBudget()
		}},
		{"workstation", "Workstations with a VNC server: NAME=HOST:PORT", "none", func(answer string) error {
			a.workstations = strings.Fields(answer)
			_, err := a.parseWorkstations()
			return err
		}},
	} {
		if d.given(q.flag) {
			continue
		}
		for {
			answer, err := d.line(q.text, q.usual)
			if err != nil {
				return err
			}
			wrong := q.take(answer)
			if wrong == nil {
				break
			}
			fmt.Fprintf(d.out, "  %v\n", wrong)
		}
	}
	if a.host != "" && !d.given("internal-ca") {
		answer, err := d.line("Is that a public name, for which a public CA can issue a certificate? yes or no", "yes")
		if err != nil {
			return err
		}
		a.internalCA = strings.HasPrefix(strings.ToLower(answer), "n")
	}
	return d.secrets(a)
}

// secrets asks for those that neither the environment nor the replaced file has.
func (d *dialogue) secrets(a *answers) error {
	wanted, err := a.wanted()
	if err != nil {
		return err
	}
	a.secrets = make(map[string]string)
	for _, w := range wanted {
		if os.Getenv(w.variable) != "" || a.kept[w.variable] != "" {
			continue
		}
		fmt.Fprintf(d.out, "%s, not shown [later]: ", w.what)
		text, err := d.secret()
		fmt.Fprintln(d.out)
		if err != nil {
			return err
		}
		a.secrets[w.variable] = strings.TrimSpace(text)
	}
	return nil
}

// line asks a question.
func (d *dialogue) line(text, usual string) (string, error) {
	fmt.Fprintf(d.out, "%s [%s]: ", text, usual)
	answer, err := d.in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return "", errors.New("the input has ended; nothing was written")
	}
	return strings.TrimSpace(answer), err
}
