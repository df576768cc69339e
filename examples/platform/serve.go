package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// grace is how long requests may go on that have begun before the end.
const grace = 30 * time.Second

// serve handles requests and works in the background until the context is done. Then it
// takes no new requests, ends those that it has, and closes the databases.
func (p *Platform) serve(ctx context.Context, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler: p.pages.Handler(), MaxHeaderBytes: 16 << 10,
		// For whole requests and responses; transfers of files have longer, part by part.
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelInfo),
	}
	p.log.Info("started", "listen", listener.Addr().String(), "service", p.pages.Service, "public", p.pages.By.Public, "version", p.pages.Versions[0].Text)
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		p.Run(ctx)
	}()
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		stop() // without requests there is nothing to work for
	}()
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(end)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	<-worked
	if err = errors.Join(err, p.Close()); err == nil {
		p.log.Info("stopped")
	}
	return err
}
