import { QueryClientProvider } from "@tanstack/react-query";
import { type RouterHistory, RouterProvider } from "@tanstack/react-router";
import { useState } from "react";
import { Announcer } from "./components/announce";
import { Toaster } from "./components/toast";
import { useLook } from "./frame/zoom";
import { CommandsProvider } from "./keys/use-commands";
import { type Platform, PlatformProvider } from "./platform";
import { makeQueryClient, useInvalidation, useRead } from "./platform/cache";
import { makeRouter } from "./router";

/** The whole page over a platform: the program, or fixtures. */
export function App({ platform, history }: { platform: Platform; history?: RouterHistory }) {
  const [client] = useState(makeQueryClient);
  return (
    <PlatformProvider value={platform}>
      <QueryClientProvider client={client}>
        <Announcer>
          <Page history={history} />
          <Toaster />
        </Announcer>
      </QueryClientProvider>
    </PlatformProvider>
  );
}

function Page({ history }: { history?: RouterHistory | undefined }) {
  useInvalidation();
  useLook();
  const look = useRead("look", []).data;
  const [router] = useState(() => makeRouter(history));
  return (
    <CommandsProvider singleKeys={look?.single_keys ?? true}>
      <RouterProvider router={router} />
    </CommandsProvider>
  );
}
