//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// podman runs commands as a user does, with images and containers of its own.
type podman struct {
	dir string // the working folder of commands
	of  string // of all else
	env []string
}

// newPodman has all its files in a folder. vfs copies images, which works on any file system. runc
// runs with any version of cgroups; crun, which podman prefers, refuses a machine that has both.
// The limit on open files is that of this process, because raising it needs a right that root of a
// virtual machine may lack.
func newPodman(of string) (*podman, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil, err
	}
	p := &podman{dir: filepath.Join(of, "work"), of: of}
	settings, storage := filepath.Join(of, "containers.conf"), filepath.Join(of, "storage.conf")
	// A layer for each step would be another copy of the program.
	p.env = append(os.Environ(), "CONTAINERS_CONF="+settings, "CONTAINERS_STORAGE_CONF="+storage, "BUILDAH_LAYERS=false")
	//nolint:gosec // the user of the image reads the Caddyfile
	err := errors.Join(os.Mkdir(p.dir, 0o755), os.Chmod(of, 0o755))
	return p, errors.Join(err,
		os.WriteFile(settings, fmt.Appendf(nil, settingsText, limit.Max, limit.Max), 0o600),
		os.WriteFile(storage, fmt.Appendf(nil, storageText, filepath.Join(of, "images"), filepath.Join(of, "run")), 0o600),
	)
}

const (
	settingsText = `[containers]
default_ulimits = ["nofile=%d:%d", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
`
	storageText = `[storage]
driver = "vfs"
graphroot = %q
runroot = %q
`
)

// shell runs a command as a shell does, and returns what it printed.
func (p *podman) shell(ctx context.Context, command string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return strings.TrimSpace(string(out)), err
}

// remove ends all containers and removes all files.
func (p *podman) remove() {
	_, err := p.shell(context.Background(), "podman rm --all --force --time 2 && podman volume rm --all --force")
	if err = errors.Join(err, os.RemoveAll(p.of)); err != nil {
		fmt.Fprintln(os.Stderr, "container: cleaning up:", err)
	}
}

// containerfile has the commands of the comment at the top of a Containerfile.
type containerfile []string

func readContainerfile(path string) (containerfile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	head, _, _ := strings.Cut(string(text), "\nFROM ")
	var all containerfile
	continued := false
	for line := range strings.Lines(head) {
		command, ok := strings.CutPrefix(line, "#   ")
		if !ok {
			continue
		}
		command = strings.TrimSpace(command)
		goesOn := strings.HasSuffix(command, `\`)
		command = strings.TrimSpace(strings.TrimSuffix(command, `\`))
		if continued {
			all[len(all)-1] += " " + command
		} else {
			all = append(all, command)
		}
		continued = goesOn
	}
	return all, nil
}

// command returns the one command that begins so, with other words instead of some.
func (c containerfile) command(beginning string, instead ...string) (string, error) {
	var found []string
	for _, command := range c {
		if strings.HasPrefix(command, beginning) {
			found = append(found, command)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d commands begin with %q", len(found), beginning)
	}
	for i := 0; i < len(instead); i += 2 {
		if !strings.Contains(found[0], instead[i]) {
			return "", fmt.Errorf("%s has no %q", found[0], instead[i])
		}
		found[0] = strings.Replace(found[0], instead[i], instead[i+1], 1)
	}
	return found[0], nil
}
