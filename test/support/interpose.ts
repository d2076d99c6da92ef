/** The driver with other ways of doing some things, for what a test makes happen at just that moment. */
export const interpose =
  <Driver extends object>(change: (driver: Driver) => Partial<Driver>) =>
  (driver: Driver): Driver => {
    const changed = change(driver);
    return new Proxy(driver, {
      get: (target, name) => Reflect.get(Object.hasOwn(changed, name) ? changed : target, name),
    });
  };
