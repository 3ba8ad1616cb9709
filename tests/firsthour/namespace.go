//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideVariable is set for the process that runs in the namespace.
const insideVariable = "FIRSTHOUR_INSIDE"

func inNamespace() bool { return os.Getenv(insideVariable) != "" }

// again runs this program in a network namespace of its own, with the same arguments.
func again(ctx context.Context) (ok bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	if id := os.Geteuid(); id != 0 {
		// The user stays the same: PostgreSQL refuses root.
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("a network namespace of its own needs root, or a kernel that lets users make one: %w", err)
	}
	err = cmd.Wait()
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return false, nil // it has said why
	}
	return err == nil, err
}

// loopbackUp starts the loopback interface, which is down in a new namespace.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}
